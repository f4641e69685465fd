"""`turnproof explain`: one requirement in full."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exits import Exit

if TYPE_CHECKING:
    from ..requirements import Requirement


def explain(
    requirement: Annotated[str, typer.Argument(metavar="ID", help="For example tools/results-answer-every-call.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> Exit:
    """Explain a requirement.

    What it asks, why, what to do about it, what checks it, and what it is known to catch.
    """
    found = _explanation(requirement)
    if json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
        return Exit.OK
    typer.echo(f"{found['id']}  ({found['level']}, profile {found['profile']})\n{found['title']}")
    for heading, key in (
        ("why it matters", "reason"),
        ("what the provider does", "provider"),
        ("what your code likely did", "code"),
        ("asked of", "subject"),
        ("needs", "capability"),
        ("needs the operations", "operations"),
        ("checked by", "checks"),
        ("judged on", "scenarios"),
        ("known to catch", "mutants"),
        ("intended differences", "differences"),
        ("sources", "sources"),
    ):
        value = found[key]
        if value:
            lines = value.splitlines() if isinstance(value, str) else value
            typer.echo(f"\n{heading}")
            for line in lines:
                typer.echo(f"  {line}")
    return Exit.OK


def _asked_of(requirement: Requirement) -> str:
    match requirement.subject:
        case "adapter":
            return "adapters and sessions, and of agents as far as the wire shows it"
        case "session":
            return "sessions and agents" if requirement.agents else "sessions"
        case "agent":
            return "agents"


def _explanation(name: str) -> dict[str, Any]:
    from ..driver.mutation import all_mutants
    from ..requirements import load_suite

    suite = load_suite()
    requirement = suite.catalogue[name]
    check = suite.registry[name]
    functions = {"each run": check.single, "streamed against one piece": check.modes, "both paths": check.aspect}
    return {
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
        "mutants": sorted(mutant.name for mutant in all_mutants().values() if mutant.caught_by == name),
    }
