"""The page on adding a requirement can be followed literally: its row, its check and its pair of transcripts."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import turnproof_suites.checks_streaming as checks
from turnproof.judge.requirements import Catalogue, judge
from turnproof.judge.requirements.registry import Registry
from turnproof.judge.verdict import Status

from . import test_streaming_checks as streaming_checks
from .cases import Case

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "add-a-requirement.md").read_text("utf-8")
ROW = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
CHECK, CASE = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def last_value(source: str, names: dict[str, Any]) -> Any:
    """Runs the source among these names, and gives what its last line is."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "page", "exec"), names)
    return eval(compile(ast.Expression(last.value), "page", "eval"), names)


def defined(source: str) -> set[str]:
    """The names that the source gives to its module."""
    names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    return names | {
        target.id
        for node in ast.parse(source).body if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip


def test_the_requirement_of_the_page_holds_and_fails(tmp_path: Path) -> None:
    registry = Registry()
    (tmp_path / "requirements.toml").write_text(ROW)
    exec(CHECK, {**vars(checks), "check": registry.check, "finding": registry.finding})
    (requirement,) = Catalogue.load(tmp_path / "requirements.toml", registry).requirements
    case = last_value(CASE, dict(vars(streaming_checks)))
    assert isinstance(case, Case)
    assert case.id == requirement.id
    good = case.good()
    assert judge(requirement, "stateless", [good], registry=registry).status is Status.HELD
    verdict = judge(requirement, "stateless", [case.bad(good)], registry=registry)
    assert verdict.status is Status.VIOLATED
    assert verdict.findings[0].code.endswith(f"/{case.code}")
    assert case.message in registry.message(verdict)


def test_the_page_takes_no_name_that_its_files_have() -> None:
    assert not defined(CHECK) & set(vars(checks))
    assert not defined(CASE) & set(vars(streaming_checks))
