"""Runs made by hand for a browser to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from report.runs import ADAPTER, HEADER, write_run

from turnproof.dialects.base import Evidence
from turnproof.judge.finding import BrokenRule, ByteSpan, Finding, Place, Side
from turnproof.judge.requirements import PROFILES
from turnproof.judge.run_log import RequirementLine, ResultLine, Run, TranscriptLine
from turnproof.judge.verdict import Status, Verdict, failed, held, inconclusive, not_claimed, violated
from turnproof.messages import FunctionCall, Message, ProviderResponse, Text, Thought, TokenUsage, ToolResult
from turnproof.provider import Path as AdapterPath
from turnproof.report import write_reports
from turnproof.run import transcript as t
from turnproof.run.evidence import EvidenceStore
from turnproof.run.tracebacks import Frame, Raised

INJECTION = (
    "</script><script>window.__injected=1</script><img src=x onerror=\"window.__injected=1;alert('x')\">"
    "<svg onload='window.__injected=1'></svg>\"'><iframe srcdoc=\"<script>top.__injected=1</script>\"></iframe>"
    "<style>body{display:none}</style><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>"
    "<base href='http://127.0.0.1:9/'>{{ 7*7 }}javascript:window.__injected=1"
)


def requirement(name: str, words: str = "", level: str = "MUST") -> RequirementLine:
    return msgspec.convert(
        {
            "id": name,
            "title": words or f"What {name.partition('/')[2]} asks",
            "level": level,
            "profile": name.partition("/")[0],
            "reason": words or "The provider refuses the next request.",
            "provider": words or "It pairs calls and results.",
            "code": words or "It drops a result. Answer every call.",
            "sources": [words or "design:pairing"],
        },
        RequirementLine,
    )


def transcript(key: t.RunKey, adapter: str, words: str, dialect: str = "anthropic-messages") -> t.Transcript:
    """A turn with everything in it that others can write: two calls, the second of them cancelled."""
    usage = TokenUsage(prompt_tokens=7, output_tokens=2, total_tokens=9)
    call = FunctionCall("c1", words, {words: words})
    history = (Message.user(words), Message.model(call), Message.tool(ToolResult("c1", words, words, is_error=True)))
    body = {"model": words, "messages": [{"role": "user", "content": words}], words: words}
    finding = {"rule": words, "enforced": True, "path": "$.messages[0].content", "message": words}
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}
    stream = f"event: content_block_delta\ndata: {json.dumps(event)}\n\n" * 3
    return t.Transcript(
        adapter=adapter,
        dialect=dialect,
        model=words,
        backend="emulate",
        key=key,
        seed=0,
        events=(
            t.TurnBegan(turn=0, text=words),
            t.CallBegan(
                turn=0,
                call=0,
                messages=history,
                system=words,
                tools=(),
                round=0,
                streamed=True,
                at_ms=3.0,
                ms=12.5,
            ),
            t.WireRequest(
                turn=0,
                call=0,
                exchange=0,
                method="POST",
                path=f"/{words}",
                headers={"x-request": words},
                body=body,
                digest="d",
                operation="generate",
                findings=(finding,),
                at_ms=4.0,
            ),
            t.WireResponse(
                turn=0,
                call=0,
                exchange=0,
                status=200,
                headers={"content-type": "text/event-stream", "x-words": words},
                body=stream,
                written=3,
                ended="cut-by-peer",
                held=True,
                released="peer-closed",
                ms=9.0,
            ),
            t.Thinking(turn=0, call=0, text=words),
            t.Chunk(turn=0, call=0, text=words),
            t.FunctionCallDetected(turn=0, call=0, function_call=call),
            t.UsageUpdate(turn=0, call=0, usage=usage),
            t.Cancelled(turn=0, call=0, at=words),
            t.Response(
                turn=0, call=0, response=ProviderResponse(parts=(Text(words), Thought(words), call), usage=usage)
            ),
            t.ToolRun(turn=0, call_id="c1", name=words, args={words: words}, outcome="error"),
            t.Failed(turn=0, call=1, scope="call", error=words, message=words, typed=True, status=400),
            t.HistorySnapshot(turn=0, owner="session", messages=history),
            t.TurnEnded(turn=0, outcome="cancelled", shown=words),
            t.RunEnded(how="completed", stdout=words, detail=words, leaks=(words,)),
        ),
    )


def _store_transcripts(folder: Path, adapter: str, scenario: str, words: str) -> list[TranscriptLine]:
    store = EvidenceStore(folder / "evidence")
    paths: tuple[AdapterPath, ...] = ("stateless", "legacy")
    keys = [t.RunKey(scenario, path) for path in paths]
    # What one path lost is what the other one still has.
    texts = {"stateless": words, "legacy": f"{words}, and more"}
    return [
        TranscriptLine(adapter=adapter, key=key, digest=store.put(transcript(key, adapter, texts[key.path])))
        for key in keys
    ]


def failing(folder: Path) -> Path:
    """`index.html` of a run in which one requirement is violated on both paths and one cannot be decided."""
    where = "tools/two"
    lines = _store_transcripts(folder, "anthropic", where, "Water beds 3 and 4.")
    found = {path: failed([_finding("tools/pairs", path, where, turn) for turn in (0, 0, 1)]) for path in PATHS}
    catalogue = [
        requirement("core/text-arrives"),
        requirement("tools/pairs"),
        requirement("tools/names", level="SHOULD"),
    ]
    results = [
        *(_result("tools/pairs", path, found[path]) for path in PATHS),
        *(_result("core/text-arrives", path, held("1 request", asked=1)) for path in ("stateless", "legacy")),
        _result("tools/names", "stateless", inconclusive("no run had anything to compare")),
        _result("tools/names", "legacy", not_claimed("needs thinking")),
    ]
    run = write_run(folder / "run.ndjson", results, catalogue=catalogue, transcripts=lines)
    write_other_files(folder)
    write_reports(run, folder, EvidenceStore(folder / "evidence"))
    return folder / "index.html"


PATHS: tuple[AdapterPath, ...] = ("stateless", "legacy")


def _finding(requirement: str, path: str, scenario: str, turn: int = 0, words: str = "Water beds 3 and 4.") -> Finding:
    """A finding that points into the request of call 0, with an exception of the adapter behind it."""
    run: dict[str, Any] = {"scenario": scenario, "path": path, "mode": "stream", "turn": turn, "round": 0, "call": 0}
    own = Frame(file=words, line=3, function=words, owner="subject", source=words)
    others = Frame(file=words, line=4, function=words, owner="sdk", source=words)
    cause = Raised(type=words, module=words, message=words, frames=(own, others), notes=(words,))
    return Finding(
        code=f"{requirement}/changed",
        place=Place(side=Side.REQUEST, exchange=0, pointer="/messages/0/content", **run),
        expected=words,
        observed={words: [words, 3, True, None]},
        rule=BrokenRule(id=words, evidence=Evidence.ISSUE, message=words, source=words),
        raised=Raised(type=words, module=words, message=words, frames=(others, own), cause=cause, exceptions=(cause,)),
        related=(
            Place(side=Side.HISTORY, pointer="/0/parts/0/text", **run),
            Place(side=Side.STREAM, exchange=0, pointer="/1/data", span=ByteSpan(0, 40), **run),
        ),
    )


def _result(name: str, path: str, verdict: Verdict, adapter: str = "anthropic") -> ResultLine:
    return ResultLine(adapter=adapter, requirement=name, path=path, verdict=verdict)


def hostile(folder: Path) -> Path:
    """`index.html` of a run in which whatever others write is `INJECTION`."""
    adapter = msgspec.structs.replace(ADAPTER, name=INJECTION, spec=INJECTION, model=INJECTION, paths=())
    lines = _store_transcripts(folder, INJECTION, INJECTION, INJECTION)
    free = violated(f"turn 0 round 0 (call 0): {INJECTION}", detail=f"+ {INJECTION}\n- {INJECTION}")
    places = [_finding("core/x", "stateless", INJECTION, 0, INJECTION) for _ in range(2)]
    verdict = failed([*free.findings, *places])
    results = [
        _result("core/x", line.key.path, verdict, INJECTION)
        if line.key.path == "stateless"
        else _result("core/x", "legacy", Verdict(Status.KNOWN_ISSUE, message=INJECTION), INJECTION)
        for line in lines
    ]
    results.append(_result("core/x", "parity", inconclusive(INJECTION), INJECTION))
    run = write_run(
        folder / "run.ndjson",
        results,
        header=msgspec.structs.replace(HEADER, command=(INJECTION,), started=INJECTION, profiles=INJECTION),
        adapters=[adapter],
        catalogue=[requirement("core/x", INJECTION)],
        transcripts=lines,
        problems=(INJECTION,),
    )
    write_other_files(folder, INJECTION)
    write_reports(run, folder, EvidenceStore(folder / "evidence"))
    return folder / "index.html"


def write_other_files(folder: Path, words: str = "plain") -> None:
    """A kill matrix, a benchmark with a plot, a gate and a comparison, and one file that is none of them."""
    row = {
        "mutant": words,
        "breaks": words,
        "expected": words,
        "outcome": "survived",
        "detail": words,
        "trips": [words],
    }
    spot = {"file": words, "line": 1, "what": words}
    criterion: dict[str, Any] = {"id": words, "side": "exit", "title": words, "state": "closed", "message": words}
    criterion |= {"left": [words], "spots": [spot]}
    goal = {"id": "G1", "subject": words, "words": words, "at_most": 1.0, "standing": "missed", "value": 2.0}
    documents: dict[str, Any] = {
        "mutants.json": {
            "schema": "turnproof.mutants/1",
            "adapter": words,
            "model": words,
            "mutants": [row],
            "requirements": {words: {"caught": []}},
            "control": {words: words},
            "started": "2026-11-22T10:00:00+00:00",
            "backend": words,
        },
        "bench.json": {
            "schema": "turnproof.bench/2",
            "started": "2026-11-22T11:00:00+00:00",
            "rounds": 5,
            "environment": {"python": words, "platform": words, "packages": {words: words}},
            "adapters": {words: {"problems": [words]}},
            "goals": [goal],
        },
        "gate-1.json": {
            "schema": "turnproof.gate/2",
            "mode": words,
            "out_of_order": [words],
            "phase": 1,
            "name": words,
            "goal": words,
            "state": "closed",
            "depth": words,
            "started": words,
            "subjects": [{"name": words, "state": "closed", "backend": words, "criteria": [criterion]}],
        },
        "comparison.json": {
            "schema": "turnproof.comparison/1",
            "compares": words,
            "left": words,
            "right": words,
            "backend": words,
            "depth": words,
            "started": "2026-11-22T12:00:00+00:00",
            "counts": {"violated": 1},
            "adapters": [words],
            "stale": [words],
            "scenarios": [{"scenario": words, "mode": words, "standing": "violated", "problem": words}],
        },
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))
    (folder / "gate-2.json").write_text("{")
    elsewhere = folder / words.replace("/", "|")[:200]
    elsewhere.mkdir()
    (elsewhere / "mutants.json").write_text(json.dumps(documents["mutants.json"]))
    (elsewhere / "mutants.html").write_text("")
    (elsewhere / "gate-3.json").write_text('{"schema": "<i>foreign</i>"}')
    label = words.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    (folder / "bench-turn.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" aria-label="{label}">'
        '<script>top.__injected=1</script><image href="http://127.0.0.1:9/x.png"/><rect width="40" height="20"/></svg>'
    )


def large(folder: Path) -> Run:
    """20 adapters and 150 requirements, on both paths, a few of them broken; as long as those of a real run."""
    names = [f"adapter-{number}" for number in range(20)]
    catalogue = [
        requirement(f"{PROFILES[number % 16]}/holds-number-{number}", "Some words about a requirement. " * 4)
        for number in range(150)
    ]
    compared = held(*(f"scenario/number-{number}/stateless/stream: 4 requests" for number in range(25)), asked=1)
    lines = _store_transcripts(folder, names[0], "tools/two", "Water beds 3 and 4.")
    results = [
        _result(line.id, path, failed([_finding(line.id, path, "tools/two")] * 4), name)
        if name == names[0] and number % 15 == 0
        else _result(line.id, path, compared, name)
        for name in names
        for number, line in enumerate(catalogue)
        for path in PATHS
    ]
    adapters = [msgspec.structs.replace(ADAPTER, name=name, spec=name) for name in names]
    return write_run(folder / "run.ndjson", results, adapters=adapters, catalogue=catalogue, transcripts=lines)
