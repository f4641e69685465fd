"""The page of the evidence of every rule (`docs/evidence.md`), made from the rules.

`python -m tests.dialects --write` writes it, `test_evidence_page.py` keeps it equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from turnproof.dialects.base import Evidence, Rule, Source

from .test_refusals import KITS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"

KINDS: Mapping[Evidence, str] = {
    Evidence.RECORDED: "recording",
    Evidence.DOCUMENTED: "documentation",
    Evidence.SERVER: "source of the service",
    Evidence.CLIENT: "source of the client",
    Evidence.ISSUE: "thread",
    Evidence.INFERRED: "none",
}

_THREAD = re.compile(r"https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)$")
_FILE = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/[^/]+/(?:.*/)?([^/#]+)$")

_HEAD = """# Where each rule is known from

<!-- Made by `python -m tests.dialects --write`. -->

A rule of a dialect says what its service refuses. The emulator *enforces* a rule, so that a request that offends it
fails, only where a named place shows the refusal: a recording, a page of the vendor, the source of the service or of
its client, a thread that pastes the service's answer, or threads of two projects. Every other rule is *logged*: the
request is accepted, and the report notes it.
Days say when a place was read. [How a rule is written](add-a-dialect.md).

Eleven rules were enforced until a place had to show them: Anthropic's `system-role-follows`, `server-tool-unanswered`
and `unreachable-url`, `method` and `zai-route` of chat completions, the gateway's `empty-content`,
`search-with-functions`, `response-turn`, `claude-text-before-result` and `claude-prompt-too-long`, and Z.ai's
`wrong-route`. With them enforced and with them logged, the 167 mutants of `antigravity`, `zai`, `anthropic` and
`openai` have the same outcomes: caught by the requirement that they name, or not claimed. None lost what catches it.
"""


def page() -> str:
    """The whole page."""
    rules = [rule for kit in KITS for rule in kit.rules]
    counts = [
        f"| {KINDS[kind]} | {sum(each.enforced for each in of_kind)} | {sum(not each.enforced for each in of_kind)} |"
        for kind in Evidence
        if (of_kind := [rule for rule in rules if rule.evidence is kind])
    ]
    enforced = sum(map(attrgetter("enforced"), rules))
    parts = [
        _HEAD,
        "| strongest evidence | enforced | logged |\n|---|---|---|",
        *counts,
        f"| all | {enforced} | {len(rules) - enforced} |\n",
    ]
    for kit in KITS:
        parts += [f"## `{kit.name}`\n", "| rule | evidence | places, and when they were read | |\n|---|---|---|---|"]
        parts += [_row(rule) for rule in kit.rules]
        parts.append("")
    return "\n".join(parts)


def _row(rule: Rule) -> str:
    state = "silent" if rule.silent else "enforced" if rule.enforced else "logged"
    return f"| `{rule.id.partition('/')[2]}` | {KINDS[rule.evidence]} | {'<br>'.join(_places(rule))} | {state} |"


def _places(rule: Rule) -> Iterator[str]:
    yield from (f"[{_label(each)}]({_target(each)}) {each.day}" for each in rule.sources)
    if rule.note:
        yield _plain(rule.note)


def _label(source: Source) -> str:
    if thread := _THREAD.match(source.address):
        return f"{thread[1]}#{thread[2]}"
    if file := _FILE.match(source.address):
        return f"{file[1]}: {_plain(file[2])}"
    path, _, anchor = source.address.removeprefix("https://").partition("#")
    return _plain(f"{path.partition('/')[0]}: {(anchor or path).rstrip('/').rpartition('/')[2]}")


def _target(source: Source) -> str:
    return source.address.replace("[", "%5B").replace("]", "%5D").replace(" ", "%20")


def _plain(text: str) -> str:
    """Text that stands in a cell as it is."""
    return re.sub(r"([|\[\]])", r"\\\1", text)


def update(*, write: bool) -> list[Path]:
    """The page, if it was out of date; with `write` it no longer is."""
    text = page()
    if PAGE.read_text("utf-8") == text:
        return []
    if write:
        PAGE.write_text(text, "utf-8")
    return [PAGE]


if __name__ == "__main__":
    update(write=True)
