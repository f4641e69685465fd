"""Evidence has the bytes that were on the wire: a client that notes every one of them is asked.

Plain sockets: an HTTP library would hide where an answer broke off, and what stands behind its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, Rendered, ReplyPart, WireEvent
from turnproof.dialects.sse import Spelling
from turnproof.messages import FinishReason, Text
from turnproof.run.evidence import EvidenceStore, digest
from turnproof.run.transcript import RunEnded, RunKey, Transcript, WireResponse
from turnproof.scenarios.model import Cut, Fault, FaultKind, ScriptRound
from turnproof.wire.controls import CONTROLS
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun, answer_writer
from turnproof.wire.emulator.server_run import CANARY_KEY

from .recording import LIMIT, Form, Recording, evidence, forms, record, turn

KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
SPELLINGS: tuple[Spelling, ...] = get_args(Spelling)
PLACES = (
    {"index": -1},
    {"index": 0},
    {"index": 999},
    *({"after": f"{kind}:{count}"} for kind in ("start", "text", "args", "call", "end") for count in (1, 2)),
)
"""Where faults act: before the head, behind an event, behind one that never comes, and behind each kind of event."""
HARMLESS = ("split", "drip", "comment", "respelled", "merged", "compressed", "idle-close")
FORMS = (*CONTROLS, "ollama, /v1/messages")
STREAMS = (*FORMS, "gemini, as an array")
CASES = [(name, True) for name in STREAMS] + [(name, False) for name in FORMS]
in_every_form = pytest.mark.parametrize(
    ("name", "streamed"), CASES, ids=[f"{name}-{'stream' if streamed else 'batch'}" for name, streamed in CASES]
)


@pytest.fixture(scope="module")
def recorded_forms(server: EmulatorServer) -> Mapping[tuple[str, bool], Form]:
    return {
        (name, streamed): form for streamed in (True, False) for name, form in forms(server, streamed=streamed).items()
    }


@pytest.fixture
def form(name: str, streamed: bool, recorded_forms: Mapping[tuple[str, bool], Form]) -> Form:
    return recorded_forms[name, streamed]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client does later than this, no client here does at all."""
    monkeypatch.setattr(answer_writer, "_REACTION", 0.02)
    monkeypatch.setattr(answer_writer, "GRACE", 0.02)


def opened(server: EmulatorServer, form: Form) -> ServerRun:
    run = server.open_run(dialect(form.dialect), ScriptResponder(), seed="sent")
    run.hold_limit, run.stall_limit = 0.02, 0.02
    return run


def faults(kind: FaultKind) -> Iterator[Fault]:
    """The fault in all its ways."""
    if kind == "respelled":
        yield from (Fault(kind, spelling=spelling) for spelling in SPELLINGS)
    elif kind in HARMLESS:
        yield Fault(kind)
    else:
        yield from (Fault(kind, status=529, **place) for place in PLACES)  # type: ignore[arg-type]


def assert_is_what_arrived(answer: WireResponse, recording: Recording) -> None:
    sent = answer.bytes_sent
    if recording.ended == "closed":
        assert recording.body == sent
    else:
        assert recording.body == sent[: len(recording.body)]


@in_every_form
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_receives_what_the_evidence_says_was_sent(kind: FaultKind, form: Form, server: EmulatorServer) -> None:
    for fault in faults(kind):
        run = opened(server, form)
        run.arm(0, turn(fault), turn().tools or ())
        recording = record(run, form)
        (answer,) = evidence(run)
        assert answer.ended != "left-open", fault
        assert_is_what_arrived(answer, recording)
        server.close_run(run)


@in_every_form
def test_an_answer_that_nothing_happens_to_is_kept_once(form: Form, server: EmulatorServer) -> None:
    for fault in (None, Fault("split"), Fault("drip")):
        run = opened(server, form)
        run.arm(0, turn(fault), turn().tools or ())
        recording = record(run, form)
        (answer,) = evidence(run)
        assert (recording.ended, answer.sent, answer.spelling, answer.settled) == ("closed", None, "", {})
        assert recording.body == answer.data == answer.bytes_sent
        server.close_run(run)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelling_is_named_and_readers_go_on_reading_the_dialects_own(
    spelling: Spelling, name: str, recorded_forms: Mapping[tuple[str, bool], Form], server: EmulatorServer
) -> None:
    answers = []
    for fault in (None, Fault("respelled", spelling=spelling)):
        run = opened(server, recorded_forms[name, True])
        run.arm(0, turn(fault), turn().tools or ())
        record(run, recorded_forms[name, True])
        answers += evidence(run)
        server.close_run(run)
    plain, respelled = answers
    known = spelling in dialect(recorded_forms[name, True].dialect).spellings
    assert respelled.data == plain.data
    assert respelled.spelling == (spelling if known else "")
    # Lines of JSON and arrays have no `data:` that could be written in another way, and calls alone overlap in a chat.
    written_otherwise = known and (b"data:" in plain.data or spelling in ("lf", "crlf", "cr"))
    written_otherwise &= (spelling, name) != ("overlapping", "openai-chat")
    assert (respelled.sent is not None) == written_otherwise
    unnoticed = msgspec.structs.replace(respelled, sent=None, spelling="")
    assert (digest(transcript(respelled)) != digest(transcript(unnoticed))) == known


@pytest.mark.parametrize("name", FORMS)
def test_keep_alives_are_in_what_was_sent_and_never_in_an_answer_in_one_piece(
    name: str, recorded_forms: Mapping[tuple[str, bool], Form], server: EmulatorServer
) -> None:
    for streamed in (True, False):
        run = opened(server, recorded_forms[name, streamed])
        run.arm(0, turn(Fault("comment")), turn().tools or ())
        recording = record(run, recorded_forms[name, streamed])
        (answer,) = evidence(run)
        noise = dialect(recorded_forms[name, streamed].dialect).noise
        assert (answer.sent is not None) == (streamed and bool(noise))
        assert recording.body.count(noise[0] if noise else b"\n: ") >= (answer.written if answer.sent else 0)
        assert recording.body == answer.bytes_sent
        server.close_run(run)


@pytest.mark.parametrize(("name", "streamed"), [*((name, True) for name in STREAMS), ("openai-chat", False)])
@pytest.mark.parametrize("kind", [None, *HARMLESS])
@pytest.mark.parametrize("how", ["the client closes", "the client stays", "the call returns"])
def test_what_was_sent_around_a_hold_is_what_arrived(
    how: str, kind: FaultKind | None, form: Form, streamed: bool, server: EmulatorServer
) -> None:
    for fault in [None] if kind is None else faults(kind):
        run = opened(server, form)
        cut = Cut("event", after="text:2" if streamed else None, index=0)
        run.arm(0, turn(fault, cut), turn().tools or ())
        if how == "the client closes":
            run.hold_limit = LIMIT
        if how == "the call returns":
            run.hold_limit = LIMIT
            run.on_hold = lambda arrived, run=run: run.call_returned.set()  # type: ignore[misc]

        def has_everything(recording: Recording, run: ServerRun = run) -> bool:
            return run.exchanges != [] and run.exchanges[0].held and recording.body == bytes(run.exchanges[0].sent)

        recording = record(run, form, until=has_everything if how == "the client closes" else lambda _: False)
        (answer,) = evidence(run)
        assert answer.held
        assert_is_what_arrived(answer, recording)
        if how == "the client closes":
            assert (answer.released, recording.body, answer.settled) == ("peer-closed", answer.bytes_sent, {})
        else:
            assert (recording.body == answer.bytes_sent) is (recording.ended == "closed") is True
            assert bool(answer.settled) == (answer.events_after_cancel > 0)
        server.close_run(run)


@in_every_form
def test_an_answer_to_head_has_no_body(form: Form, server: EmulatorServer) -> None:
    run = opened(server, form)
    run.arm(0, turn(), turn().tools or ())
    recording = record(run, form, method="HEAD")
    (answer,) = evidence(run)
    assert (recording.ended, recording.body) == ("closed", b"")
    assert answer.bytes_sent == b""


class _Rewriting:
    """A proxy that writes every answer anew."""

    def request(self, request: HttpRequest) -> HttpRequest:
        return request

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        return replace(rendered, events=tuple(replace(event, data=event.data.swapcase()) for event in rendered.events))


@in_every_form
def test_an_answer_that_a_proxy_rewrites_is_kept_as_the_server_said_it_and_as_it_went_out(
    form: Form, server: EmulatorServer
) -> None:
    run = opened(server, form)
    run.filter = _Rewriting()
    run.arm(0, turn(), turn().tools or ())
    recording = record(run, form)
    (answer,) = evidence(run)
    assert recording.body == answer.bytes_sent == answer.data.swapcase()


# -- what is left to chance --------------------------------------------------------------------------------------------


def transcript(*answers: WireResponse) -> Transcript:
    return Transcript(
        adapter="toy",
        dialect="anthropic-messages",
        model="m",
        backend="emulate",
        key=RunKey("plain/hello", "stateless"),
        seed=0,
        events=(*answers, RunEnded(how="completed")),
    )


def test_where_a_client_leaves_a_large_answer_is_in_the_evidence_and_in_no_digest(
    recorded_forms: Mapping[tuple[str, bool], Form], server: EmulatorServer
) -> None:
    """More than sockets hold, so that the server waits in the middle of it; each client leaves somewhere else."""
    pieces = [f"{n} ".rjust(50_000, ".") for n in range(400)]
    large = ScriptRound((ReplyPart(Text("".join(pieces)), tuple(pieces)),), FinishReason.STOP)
    answers = []
    form = recorded_forms["anthropic-messages", True]
    for leave_at in (10_000, 12_000_000):
        run = opened(server, form)
        run.arm(0, turn(Fault("respelled", spelling="crlf"), answer=large), turn().tools or ())
        recording = record(
            run,
            form,
            window=4_096,
            until=lambda recording, at=leave_at: len(recording.arrived) > at,  # type: ignore[misc]
        )
        (answer,) = evidence(run)
        assert (answer.ended, answer.spelling) == ("cut-by-peer", "crlf")
        assert recording.body == answer.bytes_sent[: len(recording.body)]
        answers.append(answer)
        server.close_run(run)
    one, other = answers
    assert len(one.bytes_sent) < len(other.bytes_sent)
    assert digest(transcript(one)) == digest(transcript(other))


def test_what_was_sent_before_a_hold_counts_and_what_was_sent_after_it_does_not(
    recorded_forms: Mapping[tuple[str, bool], Form], server: EmulatorServer
) -> None:
    form = recorded_forms["openai-chat", True]
    run = opened(server, form)
    run.arm(0, turn(Fault("respelled", spelling="unspaced"), Cut("event", after="text:2")), turn().tools or ())
    record(run, form)
    (answer,) = evidence(run)
    assert answer.sent is not None
    held_at = answer.settled["sent"]
    assert 0 < held_at < len(answer.sent)
    before, after = (answer.sent[:at] + "x" + answer.sent[at + 1 :] for at in (held_at - 1, held_at))
    same = digest(transcript(answer))
    assert digest(transcript(msgspec.structs.replace(answer, sent=after))) == same
    assert digest(transcript(msgspec.structs.replace(answer, sent=answer.sent[:held_at], written=4))) == same
    assert digest(transcript(msgspec.structs.replace(answer, sent=before))) != same
    assert digest(transcript(msgspec.structs.replace(answer, settled={}))) != same


class _Answering:
    """Answers with these bytes."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    async def answer(self, run: ServerRun, exchange: object, call: Call) -> Rendered:
        return Rendered(
            200, {"content-type": "text/event-stream"}, tuple(WireEvent(data, "text") for data in self._pieces)
        )


def test_bytes_that_are_no_text_are_kept_as_they_went_out_and_without_the_key(
    recorded_forms: Mapping[tuple[str, bool], Form], server: EmulatorServer
) -> None:
    """In base64 nobody would find a key."""
    form = recorded_forms["anthropic-messages", True]
    run = server.open_run(dialect(form.dialect), _Answering(b"data: \xff\n\n", b"data: {}\n\n"))
    run.arm(0, turn(Fault("respelled", spelling="crlf")))
    recording = record(run, form)
    (answer,) = evidence(run)
    assert recording.body == answer.bytes_sent == b"data: \xff\r\n\r\ndata: {}\r\n\r\n"
    assert answer.data == b"data: \xff\n\ndata: {}\n\n"

    run = server.open_run(dialect(form.dialect), _Answering(b"data: \xff" + CANARY_KEY.encode() + b"\n\n", b"\n"))
    run.arm(0, turn(Fault("respelled", spelling="crlf")))
    record(run, form)
    (answer,) = evidence(run)
    assert answer.bytes_sent == b"data: \xff[key]\r\n\r\n\r\n"
    assert answer.data == b"data: \xff[key]\n\n\n"


# -- evidence from before ----------------------------------------------------------------------------------------------

BEFORE = EvidenceStore(Path(__file__).parent / "evidence_before")
"""Made by the last version that kept answers in the dialect's own spelling alone: faults, and a hold to its limit."""


@pytest.mark.parametrize("found", BEFORE.digests(), ids=lambda found: str(found)[:8])
def test_evidence_from_before_keeps_its_digest(found: str) -> None:
    answers = BEFORE.get(found).of(WireResponse)
    assert BEFORE.verify(found) is None
    assert all(answer.sent is None and answer.bytes_sent == answer.data for answer in answers)


def test_the_evidence_from_before_has_what_is_kept_in_another_way_now() -> None:
    answers = list(itertools.chain.from_iterable(BEFORE.get(found).of(WireResponse) for found in BEFORE.digests()))
    assert {"respelled", "comment", "truncate"} <= {answer.fault for answer in answers}
    assert "limit" in {answer.released for answer in answers}
