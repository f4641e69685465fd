"""A page for each requirement, each finding's code and each rule of a dialect: what `turnproof explain` prints.

The address of a page is the name that `turnproof explain` takes: `explain/tools/results-answer-every-call/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from turnproof.commands.explanations import explanation, known_sources
from turnproof.dialects import dialect, dialect_names
from turnproof.judge.requirements import load_suite

from .markdown import code, page, plain, prose, table

_HEADINGS = (
    ("Why", "reason"),
    ("What a user notices", "effect"),
    ("What the API does", "provider"),
    ("Likely cause", "code"),
)

# Lists that have pages of their own, and what the page of the requirement says: every visitor loads the search's index.
_NOT_SEARCHED = " { data-search-exclude }"


def explain_pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page, and of the pages that list them."""
    suite = load_suite()
    for requirement in suite.requirements:
        yield f"explain/{requirement.id}.md", _requirement_page(explanation(requirement.id))
    for finding_code in suite.registry.templates:
        yield f"explain/{finding_code}.md", _finding_page(explanation(finding_code))
    for name in dialect_names():
        for rule in dialect(name).rules:
            yield f"explain/{rule.id}.md", _rule_page(explanation(rule.id))
    yield "reference/requirements.md", _list_of_requirements()
    yield "reference/findings.md", _list_of_findings()
    yield "reference/rules.md", _list_of_rules()
    yield "reference/sources.md", _list_of_sources()


def _up(name: str) -> str:
    """The way from the page of a name to the folder of all pages of names."""
    return "../" * name.count("/")


def _command(name: str) -> str:
    return f"On the command line: `turnproof explain {name}`."


def _requirement_page(what: dict[str, Any]) -> str:
    name: str = what["id"]
    up = _up(name)
    listing = f"[{what['profile']}]({up}../reference/requirements.md#{what['profile']})"
    needs = [*map(code, what["capability"]), *(f"the operation {code(each)}" for each in what["operations"])]
    return page(
        plain(what["title"]),
        f"{code(name)} · **{what['level']}** · profile {listing}",
        *(f"## {heading}\n\n{plain(what[key])}" for heading, key in _HEADINGS if what[key]),
        f"## Asked of{_NOT_SEARCHED}\n\nIt is asked of {plain(what['subject'])}.",
        _section("Needs the claims", needs),
        _section("May find", [_finding_link(each, up) for each in what["findings"]]),
        _section("Measured on the scenarios", [_scenario(each) for each in what["scenarios"]]),
        _section("Known to catch", [f"the mutant {code(each)}" for each in what["mutants"]]),
        _section("Differences between two paths that may be intended", [code(each) for each in what["differences"]]),
        _section("Sources", [source_link(each, up) for each in what["sources"]]),
        _command(name),
    )


def _scenario(pattern: str) -> str:
    return "every scenario" if pattern == "*" else code(pattern)


def _section(heading: str, items: list[str]) -> str:
    return f"## {heading}{_NOT_SEARCHED}\n\n" + "\n".join(f"- {item}" for item in items) if items else ""


def _finding_link(line: str, up: str) -> str:
    finding_code, _, title = line.partition(": ")
    return f"[{code(finding_code)}]({up}{finding_code}.md): {plain(title)}"


def source_link(source: str, up: str) -> str:
    """A source of a requirement (`defects:TP8`), with what it says; its threads are on the page of sources."""
    known = known_sources().get(source)
    if known is None:
        return code(source)
    return f"[{code(source)}]({up}../reference/sources.md#{_anchor(source)}): {plain(known.says)}"


def _anchor(source: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", source.lower())


_KINDS = {
    "defects": "Defects of adapters, seen in public code and threads",
    "behaviours": "Behaviours of systems that hold conversations",
    "stored": "What goes wrong with conversations that the service keeps",
    "wire": "Notes on the wire APIs; each rule names its own places",
}


def _list_of_sources() -> str:
    by_requirement: dict[str, list[str]] = {}
    for requirement in load_suite().requirements:
        for source in requirement.sources:
            by_requirement.setdefault(source, []).append(requirement.id)
    parts = []
    for kind, heading in _KINDS.items():
        rows = []
        for name, known in known_sources().items():
            if name.startswith(f"{kind}:"):
                links = " ".join(f"[{link.removeprefix('https://github.com/')}]({link})" for link in known.links)
                shown = "<br>".join(f"[{code(each)}](../explain/{each}.md)" for each in by_requirement.get(name, ()))
                rows.append([f'<span id="{_anchor(name)}">{code(name)}</span>', f"{plain(known.says)} {links}", shown])
        parts.append(f"## {heading}\n\n" + table(["Source", "It says", "Asked by"], rows))
    return page("Sources", "What requirements name as their sources, with the public threads that show it.", *parts)


def _finding_page(what: dict[str, Any]) -> str:
    finding = what["finding"]
    up = _up(finding["code"])
    parts = [(label, finding[key]) for label, key in (("Expected", "expected"), ("Got", "got")) if finding[key]]
    return page(
        plain(finding["title"]),
        f"A finding of the requirement [{code(what['id'])}]({up}{what['id']}.md): {plain(what['title'])}.",
        "\n".join(f"- **{label}**: {plain(text)}" for label, text in parts),
        "Names in braces stand for values of the run." if any("{" in text for _, text in parts) else "",
        *(f"## {heading}{_NOT_SEARCHED}\n\n{plain(what[key])}" for heading, key in _HEADINGS if what[key]),
        f"The code is {code(finding['code'])}. A [known issue](../{up}settings.md) accepts it by this code.",
        _command(finding["code"]),
    )


_EVIDENCE = {
    "recorded": "recorded traffic shows it",
    "documented": "the vendor's documentation says it",
    "client": "the source of the vendor's client shows it",
    "server": "the source of the service shows it",
    "issue": "threads show the service's answer",
    "inferred": "inferred; no place shows it",
}


def _rule_page(rule: dict[str, Any]) -> str:
    name: str = rule["rule"]
    up = _up(name)
    dialect_name = name.partition("/")[0]
    state = (
        "**Enforced**: the emulator refuses such a request."
        if rule["enforced"]
        else "**Logged**: the emulator accepts such a request, and the report notes it."
    )
    places = []
    for source in rule["sources"]:
        address = source["address"]
        place = f"<{address}>" if address.startswith("https://") else plain(address)
        quote = f": “{plain(source['quote'])}”" if source["quote"] else ""
        places.append(f"{place} ({source['day']}){quote}")
    return page(
        f"Rule {code(name.partition('/')[2])}",
        f"A rule of the dialect [{code(dialect_name)}]({up}../reference/rules.md#{dialect_name}).",
        f"{state} Evidence: {_EVIDENCE.get(rule['evidence'], rule['evidence'])}.",
        _section("Places that show it", places),
        f"## Note\n\n{prose(rule['note'])}" if rule["note"] else "",
        _command(name),
    )


def _list_of_requirements() -> str:
    suite = load_suite()
    parts = []
    for profile, ids in suite.profiles.profiles.items():
        rows = [
            [
                f"[{code(each)}](../explain/{each}.md)",
                suite.catalogue[each].level.value,
                plain(suite.catalogue[each].title),
            ]
            for each in ids
        ]
        parts.append(f"## {profile}\n\n" + table(["Requirement", "Level", "It asks that"], rows))
    return page(
        "Requirements",
        f"The {len(suite.requirements)} requirements of the profiles of {suite.profiles.name}. An id is never renamed "
        "and never used again. `turnproof list requirements` prints them.",
        *parts,
    )


def _list_of_findings() -> str:
    templates = load_suite().registry.templates
    by_profile: dict[str, list[list[str]]] = {}
    for finding_code, template in templates.items():
        row = [f"[{code(finding_code)}](../explain/{finding_code}.md)", plain(template.title)]
        by_profile.setdefault(finding_code.partition("/")[0], []).append(row)
    return page(
        "Findings",
        f"The {len(templates)} codes of findings. A code stays what it is. `turnproof list findings` prints them. "
        "How a finding is made up: [findings](../report.md).",
        *(f"## {profile}\n\n" + table(["Code", "Title"], rows) for profile, rows in by_profile.items()),
    )


def _list_of_rules() -> str:
    parts = []
    for name in dialect_names():
        rows = [
            [
                f"[{code(rule.id.partition('/')[2])}](../explain/{rule.id}.md)",
                "enforced" if rule.enforced else "logged",
                _EVIDENCE.get(rule.evidence.name.lower(), rule.evidence.name.lower()),
            ]
            for rule in dialect(name).rules
        ]
        parts.append(f"## {name}\n\n" + table(["Rule", "", "Evidence"], rows))
    return page(
        "Refusal rules",
        "What each dialect refuses, and what shows it. Enforced rules refuse a request as the service does; logged "
        "ones accept it. All of their places on one page: [evidence](../evidence.md).",
        *parts,
    )
