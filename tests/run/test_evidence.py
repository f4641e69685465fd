"""Evidence: equal runs have equal digests, any difference that means something has another, and files keep both."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.errors import HarnessError, UsageError
from turnproof.messages import FunctionCall, Message, ProviderResponse, Text
from turnproof.run import transcript as t
from turnproof.run.evidence import EvidenceStore, digest
from turnproof.run.tracebacks import Frame, Raised


def transcript(*events: t.Event, scenario: str = "plain/hello") -> t.Transcript:
    return t.Transcript(
        adapter="anthropic",
        dialect="anthropic-messages",
        model="claude-sonnet-4-5",
        backend="emulate",
        key=t.RunKey(scenario, "stateless"),
        seed=0,
        events=(*events, t.RunEnded(how="completed")),
    )


def request(body: object = None, **headers: str) -> t.WireRequest:
    return t.WireRequest(
        exchange=0,
        method="POST",
        path="/run/1/v1/messages",
        headers=headers,
        body=body,
        digest="d",
        operation="generate",
    )


def saved(session_id: str, message_id: str, text: str = "Good day") -> t.Saved:
    message = {"role": "user", "parts": [{"part": "text", "text": text}], "message_id": message_id}
    return t.Saved(data=json.dumps({"session_id": session_id, "messages": [message], "pinned": [message_id]}))


def snapshot(*messages: Message) -> t.HistorySnapshot:
    return t.HistorySnapshot(owner="session", messages=messages)


def call(**args: object) -> t.Response:
    return t.Response(response=ProviderResponse(parts=(FunctionCall("c1", "find", args),)))


def answer(body: str, written: int = 2, **more: Any) -> t.WireResponse:
    return t.WireResponse(exchange=0, status=200, headers={}, body=body, written=written, ended="completed", **more)


BEFORE_THE_HOLD = {"body": 3, "sent": 4, "written": 1}

SAME: dict[str, tuple[t.Event, t.Event]] = {
    "the SDK's version in the user agent": (request(**{"user-agent": "x/1"}), request(**{"user-agent": "x/2"})),
    "any x-stainless header": (request(**{"x-stainless-os": "Linux"}), request(**{"x-stainless-os": "MacOS"})),
    "the port in an error": (
        t.Failed(scope="call", error="E", message="no answer from http://127.0.0.1:4711/run/a/v1", typed=True),
        t.Failed(scope="call", error="E", message="no answer from http://127.0.0.1:1234/run/b/v1", typed=True),
    ),
    "random message ids": (
        snapshot(Message("user", (Text("hi"),), "a9")),
        snapshot(Message("user", (Text("hi"),), "b7")),
    ),
    "random ids of a saved session": (saved("s1", "m1"), saved("s2", "m2")),
    "what was written after a hold": (
        answer("abcdef", 4, sent="a-b-c-d", settled=BEFORE_THE_HOLD),
        answer("abc", 1, sent="a-b-x-y", settled=BEFORE_THE_HOLD),
    ),
    "what the adapter keeps in raw": (
        t.Response(response=ProviderResponse(raw={"at": 1})),
        t.Response(response=ProviderResponse(raw={"at": 2})),
    ),
}

DIFFERENT: dict[str, tuple[t.Event, t.Event]] = {
    "one character of a chunk": (t.Chunk(text="Good day"), t.Chunk(text="Good dax")),
    "one character of a body": (request({"system": "a"}), request({"system": "b"})),
    "a header that matters": (request(**{"anthropic-version": "1"}), request(**{"anthropic-version": "2"})),
    "a port in what the user said": (t.Chunk(text="127.0.0.1:80"), t.Chunk(text="127.0.0.1:81")),
    "a tool argument called message_id": (call(message_id="a"), call(message_id="b")),
    "one character of a saved text": (saved("s1", "m1"), saved("s1", "m1", "Good dax")),
    "which message was kept": (
        t.Collected(before=("a", "b"), after=("a",)),
        t.Collected(before=("a", "b"), after=("b",)),
    ),
    "what was written before a hold": (answer("abc", settled=BEFORE_THE_HOLD), answer("abx", settled=BEFORE_THE_HOLD)),
    "the bytes that were sent": (answer("data: {}"), answer("data: {}", sent="data:{}")),
    "that nothing was sent": (answer("data: {}"), answer("data: {}", sent="")),
    "the name of a spelling": (answer("a", spelling="lf"), answer("a", spelling="crlf")),
    "where a chunk stood": (t.Chunk(text="x", turn=0), t.Chunk(text="x", turn=1)),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_volatile_leaves_the_digest_alone(name: str) -> None:
    a, b = SAME[name]
    assert a != b or isinstance(a, t.HistorySnapshot)
    assert digest(transcript(a)) == digest(transcript(b))


@pytest.mark.parametrize("name", DIFFERENT)
def test_everything_else_changes_the_digest(name: str) -> None:
    a, b = DIFFERENT[name]
    assert digest(transcript(a)) != digest(transcript(b))


def test_ids_are_told_apart_by_who_refers_to_whom() -> None:
    """A message that came twice is another history than two messages of the same text."""
    twice = Message("user", (Text("hi"),), "a")
    other = Message("user", (Text("hi"),), "b")
    assert digest(transcript(snapshot(twice, twice))) != digest(transcript(snapshot(twice, other)))


def exchange(number: int, body: str, answer: str, probe: str) -> tuple[t.Event, t.Event]:
    original = request(body)
    replaced = msgspec.structs.replace(original, exchange=number, digest=body, probe=probe)
    answered = t.WireResponse(
        exchange=number, status=200, headers={}, body=answer, written=1, ended="completed", probe=probe
    )
    return replaced, answered


@pytest.mark.parametrize(("probe", "same"), [("threads", True), ("reversed", False), ("", False)])
def test_only_what_ran_at_the_same_time_may_arrive_in_any_order(probe: str, same: bool) -> None:
    one = transcript(*exchange(4, "a", "A", probe), *exchange(5, "b", "B", probe))
    other = transcript(*exchange(4, "b", "B", probe), *exchange(5, "a", "A", probe))
    assert (digest(one) == digest(other)) is same
    swapped = transcript(*exchange(4, "a", "B", probe), *exchange(5, "b", "A", probe))
    assert digest(one) != digest(swapped)


def test_the_run_key_is_part_of_the_evidence() -> None:
    assert digest(transcript(scenario="plain/hello")) != digest(transcript(scenario="plain/hallo"))


def test_what_is_stored_comes_back_whole(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "evidence")
    message = Message("user", (Text("Grüße 🌱"),), "random-id")
    original = transcript(
        t.CallBegan(messages=(message,), system="s", tools=(), round=0, streamed=True),
        request({"messages": []}, **{"user-agent": "x/1"}),
        t.Chunk(text="Grüße 🌱"),
    )
    found = store.put(original)
    loaded = store.get(found)

    assert loaded.of(t.Chunk, t.WireRequest) == original.of(t.Chunk, t.WireRequest)
    assert loaded.of(t.CallBegan)[0].messages[0].message_id == "random-id"
    assert digest(loaded) == found
    assert store.digests() == [found]


def test_the_same_transcript_is_the_same_file(tmp_path: Path) -> None:
    a, b = EvidenceStore(tmp_path / "a"), EvidenceStore(tmp_path / "b")
    found = a.put(transcript(t.Chunk(text="x")))
    assert b.put(transcript(t.Chunk(text="x"))) == found
    assert a.path(found).read_bytes() == b.path(found).read_bytes()
    assert list(a.folder.iterdir()) == [a.path(found)]


def test_a_live_object_in_raw_is_not_stored(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    found = store.put(transcript(t.Response(response=ProviderResponse(parts=(Text("x"),), raw=object()))))
    assert store.get(found).of(t.Response)[0].response.raw is None


def test_half_a_surrogate_pair_does_not_stop_the_evidence(tmp_path: Path) -> None:
    """Decoding streamed JSON arguments piece by piece gives one easily; it must show, not crash."""
    store = EvidenceStore(tmp_path)
    found = store.put(transcript(t.Chunk(text="half \ud83d")))
    assert store.get(found).of(t.Chunk)[0].text == r"half \ud83d"
    assert store.verify(found) is None


def test_an_object_that_is_not_data_is_our_fault() -> None:
    with pytest.raises(HarnessError, match=r"plain/hello/stateless/stream holds something that is not data"):
        digest(transcript(request(object())))


def test_missing_evidence_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="evidence abc is missing"):
        EvidenceStore(tmp_path).get("abc")


@pytest.mark.parametrize(
    "content",
    [b"", b"not gzip", gzip.compress(b"{"), gzip.compress(b'{"events":[{"event":"?"}]}')],
    ids=["empty", "not gzip", "cut", "unknown event"],
)
def test_damaged_evidence_is_named(tmp_path: Path, content: bytes) -> None:
    store = EvidenceStore(tmp_path)
    store.path("abc").write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read"):
        store.get("abc")
    assert "cannot be read" in (store.verify("abc") or "")


def test_evidence_of_an_earlier_run_is_made_again_whatever_became_of_its_file(tmp_path: Path) -> None:
    found = EvidenceStore(tmp_path).put(transcript(t.Chunk(text="x")))
    store = EvidenceStore(tmp_path)
    store.path(found).write_bytes(b"damaged")
    assert store.put(transcript(t.Chunk(text="x"))) == found
    assert store.verify(found) is None


def test_only_what_a_store_has_put_or_kept_stays_when_a_run_begins(tmp_path: Path) -> None:
    earlier = EvidenceStore(tmp_path)
    old, survivor, damaged = (earlier.put(transcript(t.Chunk(text=text))) for text in ("old", "kept", "damaged"))
    earlier.path(damaged).write_bytes(b"")
    (tmp_path / f"{old}.json.gz.1.part").write_bytes(b"half")
    store = EvidenceStore(tmp_path)
    store.keep(survivor)
    with pytest.raises(UsageError, match="cannot be read"):
        store.keep(damaged)
    new = store.put(transcript(t.Chunk(text="new")))
    store.drop_earlier()
    assert {path.name for path in tmp_path.iterdir()} == {f"{new}.json.gz", f"{survivor}.json.gz"}


@pytest.mark.parametrize("digest", ["../../out_of_tree", "a\0b", "", "/etc/passwd", "0" * 65])
def test_what_is_no_digest_opens_no_file(tmp_path: Path, digest: str) -> None:
    with pytest.raises(UsageError, match="is no digest"):
        EvidenceStore(tmp_path).get(digest)


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    found = store.put(transcript(t.Chunk(text="x")))
    store.path(found).write_bytes(store.path(found).read_bytes()[:-20])
    assert "cannot be read" in (store.verify(found) or "")


def test_changed_evidence_does_not_verify(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    found = store.put(transcript(t.Chunk(text="true")))
    assert store.verify(found) is None
    path = store.path(found)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"true", b"fake")))
    assert "was changed" in (store.verify(found) or "")


def test_evidence_from_before_tracebacks_keeps_its_digest() -> None:
    failed = t.Failed(
        scope="call", error="KeyError", message="'text'", typed=False, bases=("LookupError",), turn=0, call=0
    )
    refused = t.Refused(operation="load", error="ValueError", message="damaged", turn=1)
    assert digest(transcript(failed, refused)) == "da50983ddc46b9ba632f717ad49067ec4430529f0f47f9d4663521879a6373f0"


def test_of_equal_evidence_the_tracebacks_of_the_later_run_are_kept(tmp_path: Path) -> None:
    """A comment was added to the adapter: its digest stays, and findings quote the lines as they are now."""
    store = EvidenceStore(tmp_path)

    def run(line: int) -> t.Transcript:
        frame = Frame(file="mine.py", line=line, function="complete", owner="subject")
        raised = Raised(type="KeyError", module="builtins", frames=(frame,))
        return transcript(t.Failed(scope="call", error="KeyError", message="", typed=False, raised=raised))

    assert store.put(run(7)) == (found := store.put(run(8)))
    assert store.get(found) == run(8)
