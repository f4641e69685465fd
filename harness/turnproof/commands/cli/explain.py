"""`turnproof explain`: one requirement in full, what a finding's code means, or what shows a rule of the wire."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import completion
from .options import names_argument

if TYPE_CHECKING:
    from ...judge.requirements import Requirement


def explain(
    requirement: Annotated[
        str,
        names_argument(
            completion.requirements,
            "ID|CODE|RULE",
            "For example tools/results-answer-every-call, tools/results-answer-every-call/result-count, or "
            "gemini/call-turn.",
        ),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain a requirement, the code of a finding, or a rule of the wire.

    What it asks, why, what to do about it, what checks it, what may be found, and what it is known to catch. Of a rule:
    whether requests are refused for it, and the places that show it.
    """
    found = _explanation_of_rule(requirement) or _explanation(requirement)
    if json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        (_print_rule if "rule" in found else _print)(found)


def _print_rule(rule: dict[str, Any]) -> None:
    from rich.text import Text

    from ...report.terminal import console_for
    from .tables import print_indented

    console = console_for(sys.stdout, plain_width=2000)
    state = "enforced: such a request is refused" if rule["enforced"] else "logged: such a request is accepted"
    console.print(Text(f"{rule['rule']}  ({rule['evidence']}, {state})"))
    for source in rule["sources"]:
        print_indented(console, Text(f"{source['address']} ({source['day']})"))
        if source["quote"]:
            print_indented(console, Text(f"  says: {source['quote']}"))
    if rule["note"]:
        print_indented(console, Text(f"note: {rule['note']}"))


def _explanation_of_rule(name: str) -> dict[str, Any] | None:
    """What shows a rule of a dialect (`gemini/call-turn`). None if the name's first part is no dialect."""
    from ..._base.suggestions import did_you_mean
    from ...dialects import dialect, dialect_names
    from ...errors import UsageError

    api = name.partition("/")[0]
    if api not in dialect_names():
        return None
    rules = {rule.id: rule for rule in dialect(api).rules}
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


def _print(explanation: dict[str, Any]) -> None:
    from rich.text import Text

    from ...report.terminal import console_for
    from .tables import print_indented

    console = console_for(sys.stdout, plain_width=2000)
    if "finding" in explanation:
        console.print(Text(explanation["finding"]["code"]))
        for label in ("title", "expected", "got"):
            if explanation["finding"][label]:
                print_indented(console, Text(f"{label}: {explanation['finding'][label]}"))
        console.print()
    console.print(
        Text(f"{explanation['id']}  ({explanation['level']}, profile {explanation['profile']})\n{explanation['title']}")
    )
    for heading, key in (
        ("why", "reason"),
        ("what the API does", "provider"),
        ("likely cause", "code"),
        ("asked of", "subject"),
        ("needs", "capability"),
        ("needs the operations", "operations"),
        ("checked by", "checks"),
        ("judged on", "scenarios"),
        ("may find", "findings"),
        ("known to catch", "mutants"),
        ("intended differences", "differences"),
        ("sources", "sources"),
    ):
        value = explanation[key]
        if value:
            lines = value.splitlines() if isinstance(value, str) else value
            console.print(Text(f"\n{heading}"))
            for line in lines:
                print_indented(console, Text(line))


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


def _explanation(name: str) -> dict[str, Any]:
    from ..._base.suggestions import did_you_mean
    from ...errors import UsageError
    from ...judge.finding_words import COMMON
    from ...judge.requirements import load_suite
    from ...run.driver.mutation import all_mutants

    suite = load_suite()
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
        "provider": requirement.provider,
        "code": requirement.code,
        "subject": _asked_of(requirement),
        "capability": list(requirement.capability),
        "operations": list(requirement.operations),
        "scenarios": list(requirement.scenarios),
        "differences": list(requirement.differences),
        "sources": list(requirement.sources),
        "checks": [
            f"{what}: {function.__module__}.{function.__qualname__}"
            for what, function in functions.items()
            if function is not None
        ],
        "findings": [f"{each}: {template.title}" for each, template in templates.items() if _is_of(each, name)],
        "mutants": sorted(mutant.name for mutant in all_mutants().values() if mutant.caught_by == name),
    }
