"""What `turnproof explain` and the pages of the site say about a requirement, a finding's code or a rule of the wire.

The answers are plain data: `explain --json` prints them as they are.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .._base.suggestions import did_you_mean
from ..dialects import dialect, dialect_names
from ..dialects.base import Rule
from ..errors import UsageError
from ..judge.finding_words import COMMON
from ..judge.requirements import Requirement, load_suite
from ..run.driver.mutation import all_mutants

_suite = cache(load_suite)
"""Reading it takes most of a second, and the site asks for each of its names."""


class Source(msgspec.Struct, frozen=True):
    """What a source of a requirement says, and public threads that show it."""

    says: str
    links: tuple[str, ...] = ()


@cache
def known_sources() -> dict[str, Source]:
    """The sources that requirements name (`defects:TP8`), as far as the suite's `sources.toml` has them."""
    file = Path(next(iter(importlib.import_module(_suite().package).__path__))) / "sources.toml"
    if not file.is_file():
        return {}
    lists = msgspec.toml.decode(file.read_bytes(), type=dict[str, dict[str, Source]])
    return {f"{kind}:{row}": source for kind, rows in lists.items() for row, source in rows.items()}


def explanation(name: str) -> dict[str, Any]:
    """What is known about a requirement, a finding's code or a rule; of a rule, `rule` is its id.

    Raises UsageError with a suggestion for a name that there is not.
    """
    return _of_rule(name) if name.partition("/")[0] in dialect_names() else _of_requirement(name)


def _of_rule(name: str) -> dict[str, Any]:
    rules: dict[str, Rule] = {rule.id: rule for rule in dialect(name.partition("/")[0]).rules}
    if (rule := rules.get(name)) is None:
        raise UsageError(f"no rule {name!r}{did_you_mean(name, rules)}; docs/evidence.md has all")
    return {
        "rule": rule.id,
        "evidence": rule.evidence.name.lower(),
        "enforced": rule.enforced,
        "note": rule.note,
        "sources": [
            {"address": each.address, "day": each.day, "kind": each.kind.name.lower(), "quote": each.quote}
            for each in rule.sources
        ],
    }


def _is_of(code: str, requirement: str) -> bool:
    return code.rpartition("/")[0] == requirement


def _asked_of(requirement: Requirement) -> str:
    match requirement.subject:
        case "adapter":
            return "adapters and sessions, and of agents as far as the wire shows it"
        case "session":
            return "sessions and agents" if requirement.agents else "sessions"
        case "agent":
            return "agents"


def _of_requirement(name: str) -> dict[str, Any]:
    suite = _suite()
    templates = suite.registry.templates
    code = ""
    if name.count("/") > 1 and name not in suite.catalogue:
        name, code = name.rpartition("/")[0], name
        if code not in templates and (code.rpartition("/")[2] not in COMMON or name not in suite.catalogue):
            raise UsageError(
                f"no finding has the code {code!r}{did_you_mean(code, templates)}; `turnproof list findings` shows all"
            )
    if name not in suite.catalogue:
        meant = did_you_mean(name, (each.id for each in suite.requirements))
        raise UsageError(f"no requirement {name!r}{meant}; `turnproof list requirements` shows all")
    requirement = suite.catalogue[name]
    check = suite.registry[name]
    words = templates.get(code) or COMMON.get(code.rpartition("/")[2])
    explanation = {"code": code, "title": words.title, "expected": words.expected, "got": words.got} if words else {}
    functions = {"each run": check.single, "streamed against one piece": check.modes, "both paths": check.aspect}
    return {
        **({"finding": explanation} if explanation else {}),
        "id": requirement.id,
        "title": requirement.title,
        "level": requirement.level.value,
        "profile": requirement.profile,
        "reason": requirement.reason,
        "effect": requirement.effect,
        "provider": requirement.provider,
        "code": requirement.code,
        "subject": _asked_of(requirement),
        "capability": list(requirement.capability),
        "operations": list(requirement.operations),
        "scenarios": list(requirement.scenarios),
        "differences": list(requirement.differences),
        "sources": list(requirement.sources),
        "source_texts": {
            each: msgspec.to_builtins(known_sources()[each]) for each in requirement.sources if each in known_sources()
        },
        "checks": [
            f"{what}: {function.__module__}.{function.__qualname__}"
            for what, function in functions.items()
            if function is not None
        ],
        "findings": [f"{each}: {template.title}" for each, template in templates.items() if _is_of(each, name)],
        "mutants": sorted(mutant.name for mutant in all_mutants().values() if mutant.caught_by == name),
    }
