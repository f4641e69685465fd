"""`turnproof explain`: one requirement in full, what a finding's code means, or what shows a rule of the wire."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import completion
from .options import names_argument


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
    """Explain a requirement, the code of a finding, or a rule.

    Of a requirement: what it demands and why, what to do about a violation, its check, its findings, and the mutants
    that it catches. Of a rule: whether requests are refused for it, and the places that show it.
    """
    from ..._base.settings import load_config
    from ..._base.site_address import explain_page, site_base
    from ..explanations import explanation

    page = explain_page(site_base(load_config(Path.cwd()).settings), requirement)
    found = explanation(requirement) | ({"page": page} if page else {})
    if json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        (_print_rule if "rule" in found else _print)(found)
        if page:
            print(f"\n{page}")


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
        ("what a user notices", "effect"),
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
        value = _sources(explanation) if key == "sources" else explanation[key]
        if value:
            lines = value.splitlines() if isinstance(value, str) else value
            console.print(Text(f"\n{heading}"))
            for line in lines:
                print_indented(console, Text(line))


def _sources(explanation: dict[str, Any]) -> list[str]:
    """Each source with what it says, and its threads below."""
    lines = []
    for source in explanation["sources"]:
        text = explanation["source_texts"].get(source)
        lines.append(f"{source}: {text['says']}" if text else source)
        lines += [f"  {link}" for link in text["links"]] if text else []
    return lines
