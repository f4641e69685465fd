"""`turnproof explain`: one requirement in full, or what a finding's code means."""

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
            "ID|CODE",
            "For example tools/results-answer-every-call, or tools/results-answer-every-call/result-count.",
        ),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain a requirement, or the code of a finding.

    What it asks, why, what to do about it, what checks it, what may be found, and what it is known to catch.
    """
    found = _explanation(requirement)
    if json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        _print(found)


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
