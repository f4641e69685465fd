"""Hand-made runs for the tests of reports: small enough to know every number by heart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from turnproof.judge.run_log import (
    AdapterLine,
    Environment,
    Header,
    Line,
    RequirementLine,
    ResultLine,
    Run,
    RunWriter,
    TranscriptLine,
    read_run,
)
from turnproof.judge.verdict import Verdict
from turnproof.run.transcript import RunKey

from .verdicts import BAD, MISSING, OK, UNCLAIMED, UNSURE

HEADER = Header(
    turnproof="0.1.0",
    profiles="2026.11",
    backend="emulate",
    depth="quick",
    seed=0,
    started="2026-11-21T10:00:00Z",
    environment=Environment(python="3.11.7", platform="Linux", packages={"anthropic": "2.12.0"}),
    command=("turnproof", "certify", "anthropic"),
)

ADAPTER = AdapterLine(
    name="anthropic", spec="anthropic", dialect="anthropic-messages", model="claude-sonnet-4-5", backend="emulate"
)

HOSTILE = "</script><script>alert(1)</script> ]]> &amp; \"'`| <img src=x onerror=y> \x1b[31m\x00 [a](javascript:b) ```"


def seen_in(verdict: Verdict, key: RunKey | str, **evidence: tuple[str, ...]) -> Verdict:
    """A violation with its findings made in the run with this key."""
    scenario, path, mode = str(key).rsplit("/", 2)
    where = {"scenario": scenario, "path": path, "mode": mode}
    findings = tuple(replace(one, place=replace(one.place, **where)) for one in verdict.findings)
    return replace(verdict, findings=findings, failing={str(key): len(findings)}, **evidence)


def requirement(name: str, level: Literal["MUST", "SHOULD"] = "MUST", **more: Any) -> RequirementLine:
    """A requirement whose profile is the first half of its name."""
    return RequirementLine(
        id=name,
        title=more.pop("title", f"Title of {name}"),
        level=level,
        profile=name.partition("/")[0],
        reason=more.pop("reason", "The provider refuses the next request."),
        provider=more.pop("provider", "It pairs calls and results."),
        code=more.pop("code", "Answer every call in one message."),
        **more,
    )


def result(requirement: str, path: str, verdict: Verdict, adapter: str = "anthropic") -> ResultLine:
    """One result of the adapter `anthropic`."""
    return ResultLine(adapter=adapter, requirement=requirement, path=path, verdict=verdict)


CATALOGUE = [
    requirement("core/text-arrives"),
    requirement("core/order-kept"),
    requirement("core/nice-names", "SHOULD"),
    requirement(
        "tools/results-answer-every-call",
        sources=("defects.md TP1", "https://example.org/why"),
        findings={"tools/results-answer-every-call/missing": MISSING},
    ),
    requirement("thinking/signature-kept", capability="thinking"),
]

RESULTS = [
    result("core/text-arrives", "stateless", OK),
    result("core/text-arrives", "legacy", OK),
    result("core/text-arrives", "parity", OK),
    result("core/order-kept", "stateless", OK),
    result("core/order-kept", "legacy", UNSURE),
    result("core/nice-names", "stateless", OK),
    result("tools/results-answer-every-call", "stateless", OK),
    result("tools/results-answer-every-call", "legacy", BAD),
    result("tools/results-answer-every-call", "parity", UNSURE),
    result("thinking/signature-kept", "stateless", UNCLAIMED),
]

GOOD = [
    *(result(line.id, path, OK) for line in CATALOGUE[:4] for path in ("stateless", "legacy")),
    result("thinking/signature-kept", "stateless", UNCLAIMED),
]


def write_run(
    path: Path,
    results: Iterable[ResultLine] = RESULTS,
    *,
    header: Header = HEADER,
    adapters: Sequence[AdapterLine] = (ADAPTER,),
    catalogue: Sequence[RequirementLine] = tuple(CATALOGUE),
    transcripts: Sequence[TranscriptLine] = (),
    exit_code: int | None = 1,
    problems: tuple[str, ...] = (),
) -> Run:
    """A run written to a file and read again; without an exit code it has no footer, as if it had been cut."""
    lines: list[Line] = [header, *catalogue, *adapters, *transcripts, *results]
    with RunWriter(path) as writer:
        for line in lines:
            writer.write(line)
        if exit_code is not None:
            writer.finish(exit_code, 1.5, problems)
    return read_run(path)
