"""`docs/adapter-from-nothing.md`: its code is the example, each fault is found, and each fix is held."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import ROOT, defined, follow, put_in, steps

PAGE = "adapter-from-nothing.md"
EXAMPLE = ROOT / "examples" / "httpx_chat"


def test_the_code_of_the_page_put_together_is_the_example(tmp_path: Path) -> None:
    for step in steps(PAGE):
        if step.file:
            put_in(tmp_path / step.file, step.text)
    for name in ("httpx_chat.py", "httpx_chat_binding.py"):
        code, example = (defined((folder / name).read_text("utf-8")) for folder in (tmp_path, EXAMPLE))
        assert code == example, name


def test_every_fault_of_the_page_is_found_and_its_fix_is_held() -> None:
    text = "\n".join(step.text for step in steps(PAGE) if not step.file)
    found = re.findall(r"^(✗ violated|✓ held) (\S+/\S+)", text, re.MULTILINE)
    assert {name for mark, name in found if mark == "✗ violated"} <= {
        name for mark, name in found if mark == "✓ held"
    } | {"tools/definitions-are-sent-each-turn"}
    assert text.count("$ turnproof certify") == len(found) + 1


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_commands_of_the_page_say_what_the_page_says(tmp_path: Path) -> None:
    follow(steps(PAGE), tmp_path)
