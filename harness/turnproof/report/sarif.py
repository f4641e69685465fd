"""`turnproof.sarif`: the findings of a run for code scanning and editors, as SARIF 2.1.0 (OASIS, March 2020) has it.

A result is what one adapter does wrong in one way, on one path, for one reason: findings of one code, root and location
are one result with their number. The location is the deepest line of the subject's own code that an exception went
through, else where the class was defined that was opened. What is undecided is `open`, a known issue is suppressed with
its reason, and what is held is not told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from .._base.canonical import canonical
from .._base.printable import one_line
from .._base.site_address import explain_page
from ..judge.finding import Finding, Place, open_pointer
from ..judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ..judge.verdict import Status
from ..run.tracebacks import Frame, Raised
from .certification import reproduce
from .finding_groups import Group, groups, location, scenarios

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_PLACES = 50
"""Places of one result that are told by themselves; `occurrenceCount` has all of them."""

_LEVELS = {"MUST": "error", "SHOULD": "warning"}


def sarif_json(run: Run) -> bytes:
    """The log, indented, with sorted keys. A run that was cut has `executionSuccessful` false."""
    return msgspec.json.format(canonical(sarif(run)), indent=2) + b"\n"


def sarif(run: Run) -> dict[str, Any]:
    """The log as plain JSON."""
    results = [result for line in run.results for result in _results(run, line)]
    rules = list(dict.fromkeys(result["ruleId"] for result in results))
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    driver = {
        "name": "turnproof",
        "version": run.header.turnproof,
        "semanticVersion": run.header.turnproof,
        "rules": [_rule(run, code) for code in rules],
    }
    invocation: dict[str, Any] = {
        "executionSuccessful": run.complete,
        "commandLine": " ".join(run.header.command) or "turnproof",
        "startTimeUtc": _utc(run.header.started),
    }
    if run.footer is not None:
        invocation["exitCode"] = run.footer.exit_code
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": one_line(problem)}} for problem in run.footer.problems
        ]
    only = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": results,
        "columnKind": "unicodeCodePoints",
        "properties": {"profiles": run.header.profiles, "backend": run.header.backend, "depth": run.header.depth},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [only]}


def _utc(moment: str) -> str:
    """The moment as SARIF writes it: with a Z."""
    return moment.replace("+00:00", "Z")


def _rule(run: Run, code: str) -> dict[str, Any]:
    requirement = run.requirements.get(code) or run.requirements.get(code.rpartition("/")[0])
    template = run.templates.get(code)
    title = template.title if template is not None else requirement.title if requirement is not None else code
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": one_line(title)}}
    explained = code if requirement is None or template is not None else requirement.id
    if address := explain_page(run.header.docs, explained):
        rule["helpUri"] = address
    if requirement is not None:
        rule["fullDescription"] = {"text": one_line(f"{requirement.title}. {requirement.reason}".strip())}
        rule["help"] = {"text": one_line(requirement.remedy) or one_line(requirement.title)}
        rule["defaultConfiguration"] = {"level": _LEVELS[requirement.level]}
        rule["properties"] = {"tags": [requirement.profile, requirement.level], "requirement": requirement.id}
    return rule


def _results(run: Run, line: ResultLine) -> Iterator[dict[str, Any]]:
    adapter, requirement = run.adapters[line.adapter], run.requirements[line.requirement]
    verdict = line.verdict
    if verdict.status is Status.INCONCLUSIVE and requirement.level == "MUST":
        yield {
            **_head(run, line, adapter, requirement, requirement.id),
            "kind": "open",
            "level": "none",
            "message": {"text": one_line(f"{line.adapter}, {line.path}: undecided: {verdict.message}")},
            "locations": [_location(run, adapter, None, ())],
            "partialFingerprints": _fingerprint(line, requirement.id, "", ""),
        }
    if verdict.status not in (Status.VIOLATED, Status.KNOWN_ISSUE):
        return
    known = verdict.status is Status.KNOWN_ISSUE
    for findings, accepted in ((verdict.findings, known), (verdict.accepted, True)):
        for group in groups(findings, run.templates):
            for raised, some in _by_frame(group):
                yield _failure(run, line, adapter, requirement, group, raised, some, accepted=accepted)


def _failure(
    run: Run,
    line: ResultLine,
    adapter: AdapterLine,
    requirement: RequirementLine,
    group: Group,
    raised: Raised | None,
    some: Sequence[Finding],
    *,
    accepted: bool,
) -> dict[str, Any]:
    words = run.words(some[0])
    where = location(some[0].place)
    result: dict[str, Any] = {
        **_head(run, line, adapter, requirement, group.code),
        "kind": "fail",
        "level": _LEVELS[requirement.level],
        "message": {"text": one_line(f"{line.adapter}, {line.path}: {words.whole} ({where})")},
        "locations": [_location(run, adapter, raised, some)],
        "occurrenceCount": len(some),
        "partialFingerprints": _fingerprint(line, group.code, group.root, _pointer(some[0].place)),
    }
    result["properties"] |= {
        "root": group.root,
        "scenarios": scenarios(group.runs),
        "findings": [msgspec.to_builtins(msgspec.structs.replace(one, raised=None)) for one in some[:_PLACES]],
    }
    if raised is not None:
        result["stacks"] = [_stack(raised)]
    if accepted:
        reason = one_line(line.verdict.message) or "accepted"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _head(run: Run, line: ResultLine, adapter: AdapterLine, requirement: RequirementLine, code: str) -> dict[str, Any]:
    command = reproduce(run, adapter, requirement.id, [line.verdict])
    return {
        "ruleId": code,
        "properties": {"adapter": line.adapter, "path": line.path, "requirement": requirement.id, "reproduce": command},
    }


def _by_frame(group: Group) -> list[tuple[Raised | None, list[Finding]]]:
    """The findings of a group by the line of the subject's own code that they lead to."""
    found: dict[tuple[str, int], tuple[Raised | None, list[Finding]]] = {}
    for finding in group.findings:
        frame = finding.raised.own_frame if finding.raised is not None else None
        key = (frame.file, frame.line) if frame is not None else ("", 0)
        found.setdefault(key, (finding.raised if frame is not None else None, []))[1].append(finding)
    return list(found.values())


def _location(run: Run, adapter: AdapterLine, raised: Raised | None, findings: Sequence[Finding]) -> dict[str, Any]:
    frame = raised.own_frame if raised is not None else None
    frame = frame or _class_location(run, adapter, findings)
    found: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": adapter.spec, "kind": "module"}]}
    if frame is not None:
        found["physicalLocation"] = _physical(frame)
    return found


def _physical(frame: Frame) -> dict[str, Any]:
    """A line of a file. One outside of the project is relative to a folder that only the machine of the run knows."""
    where: dict[str, Any] = {"uri": quote(frame.file.replace("\\", "/"))}
    if not frame.in_project:
        where["uriBaseId"] = frame.root.upper()
    region = {"region": {"startLine": frame.line}} if frame.line > 0 else {}
    return {"artifactLocation": where, **region}


def _class_location(run: Run, adapter: AdapterLine, findings: Sequence[Finding]) -> Frame | None:
    """Where the class is defined that was opened for the path of the findings, or for any path."""
    paths = {finding.place.path for finding in findings}
    lines = [line for line in run.transcripts if line.adapter == adapter.name and line.opened is not None]
    chosen = next((line for line in lines if line.key.path in paths), next(iter(lines), None))
    return chosen.opened if chosen is not None else None


def _stack(raised: Raised) -> dict[str, Any]:
    frames = [
        {
            "location": {
                "physicalLocation": _physical(frame),
                "message": {"text": one_line(frame.source) or frame.function},
            },
            "module": frame.module or frame.owner,
        }
        for frame in reversed(raised.frames)
    ]
    return {"message": {"text": one_line(raised.title)}, "frames": frames}


def _fingerprint(line: ResultLine, *parts: str) -> dict[str, str]:
    """What makes a result the same one in another run: nothing that words or numbers of lines change."""
    text = "\x00".join((line.adapter, line.path, *(part.partition("@")[0] for part in parts)))
    return {"turnproof/v1": hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()}


def _pointer(place: Place) -> str:
    """The pointer with its indices left open: the same mistake in another message is the same."""
    return place.header or open_pointer(place.pointer or "")
