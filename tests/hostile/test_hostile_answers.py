"""Answers that are not what an API promises: an answer that can be kept and sent again, or a typed error.

In memory: the claims are about what is read, not about sockets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from turnproof.errors import ContextLimitError, InvalidRequestError, ProviderError, RateLimitError, TransportError
from turnproof.messages import FunctionCall, Message, Text, Thought, dump_messages, load_messages
from turnproof.provider import PATHS, Path
from turnproof_adapters._sse import payloads

from .answers import (
    ANTHROPIC,
    ANTHROPIC_HEAD,
    CHAT,
    GEMINI,
    GOOD,
    STREAMS,
    VALUES,
    Peer,
    anthropic_tail,
    block_delta,
    block_start,
    damaged,
    ended,
    event_stream,
    nested,
    places,
    sse,
)

_CARRIES = ("text", "id", "name", "args", "code")
GO = [Message.user("go")]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module", params=GOOD)
def peer(request: pytest.FixtureRequest) -> Peer:
    return Peer(request.param)


@pytest.fixture(scope="module")
def anthropic() -> Peer:
    return Peer("anthropic")


@pytest.fixture(scope="module")
def gemini() -> Peer:
    return Peer("google_genai")


def usable(peer: Peer, path: Path) -> bool:
    """Whether the call gave a response; then it can be kept, and callbacks heard nothing but words and calls."""
    response, text = None, ""
    try:
        response = peer.ask(path, GO)
    except ProviderError as error:
        text = str(error)
    assert {type(each) for each in peer.events} <= {str, FunctionCall}
    if response is None:
        text.encode()
        assert len(text) < 3_000
        return False
    message = Message.model(*response.parts)
    (read,) = load_messages(dump_messages([message]))
    assert read.parts == message.parts
    assert "\\ud8" not in dump_messages([message]).decode(), "half of a pair could be sent to nobody"
    return True


@pytest.mark.parametrize("value", VALUES)
def test_any_value_in_place_of_any_other_gives_an_answer_or_a_typed_error(peer: Peer, value: str) -> None:
    peer.status, peer.streams = 200, False
    good = GOOD[peer.name]
    peer.body = json.dumps(good).encode()
    assert usable(peer, "stateless")
    for place in places(good):
        peer.body = damaged(good, place, VALUES[value]).encode()
        usable(peer, "stateless")


@pytest.mark.parametrize("value", ["a number", "half of a pair"])
def test_the_same_holds_for_every_event_of_a_stream(peer: Peer, value: str) -> None:
    events = STREAMS[peer.name]
    peer.status, peer.streams = 200, True
    kinds = [event.get("type") for event in events]
    peer.body = sse(*events)
    assert usable(peer, "stateless")
    for number, event in enumerate(events):
        for place in [each for each in places(event) if each and (len(each) < 3 or each[-1] in _CARRIES)]:
            texts = [json.dumps(each) for each in events]
            texts[number] = damaged(event, place, VALUES[value])
            peer.body = event_stream(kinds, texts)
            usable(peer, "stateless")


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_no_answer_at_all_is_a_typed_error(peer: Peer, path: Path) -> None:
    for body in (b"", b"null", b"[]", b'"x"', b"\xff\xfe", b"<html>", b"{}", b'"\\ud800"'):
        for status in (200, 503):
            peer.status, peer.streams, peer.body = status, False, body
            with pytest.raises(ProviderError) as failure:
                peer.ask(path, GO)
            assert failure.value.status in ({None, 200} if status == 200 else {status})


@pytest.mark.parametrize("depth", [101, 1_000])
@pytest.mark.parametrize("path", PATHS)
def test_an_answer_nested_deeper_than_a_message_may_be_is_a_transport_error(peer: Peer, path: Path, depth: int) -> None:
    arguments: dict[str, Callable[[], str]] = {
        **dict.fromkeys(
            ("anthropic", "zai", "ollama"), lambda: damaged(ANTHROPIC, ("content", 2, "input", "bed"), nested(depth))
        ),
        "openai": lambda: damaged(
            CHAT,
            ("choices", 0, "message", "tool_calls", 0, "function", "arguments"),
            f'{{"bed": {nested(depth)}}}',
        ),
        "google_genai": lambda: damaged(
            GEMINI, ("candidates", 0, "content", "parts", 6, "functionCall", "args", "bed"), nested(depth)
        ),
    }
    peer.status, peer.streams, peer.body = 200, False, arguments[peer.name]().encode()
    with pytest.raises(TransportError):
        peer.ask(path, GO)


# -- the Messages API --------------------------------------------------------------------------------------------


CALL = block_start(0, type="tool_use", id="a", name="read", input={})

CONTRADICTORY: dict[str, tuple[Sequence[dict[str, Any]], str]] = {
    "a text that is a number": ([block_start(0, type="text", text=5), ended(0)], "text block of int"),
    "thinking that is a list": ([block_start(0, type="thinking", thinking=["a"]), ended(0)], "thinking block of list"),
    "one index twice": ([block_start(0, type="text", text="a"), ended(0), CALL, ended(0)], "two blocks 0"),
    "a piece of no block": ([block_delta(3, "text_delta", text="lost")], "text_delta for no block, at index 3"),
    "words for a call": ([CALL, block_delta(0, "text_delta", text="lost")], "text_delta for a 'tool_use' block"),
    "arguments for a text": (
        [block_start(0, type="text", text=""), block_delta(0, "input_json_delta", partial_json="{}")],
        "input_json_delta for a 'text' block",
    ),
    "a call without its end": ([CALL, block_delta(0, "input_json_delta", partial_json='{"a":')], "did not end block 0"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("case", CONTRADICTORY)
def test_a_stream_that_contradicts_itself_is_an_error_and_loses_nothing_silently(
    anthropic: Peer, path: Path, case: str
) -> None:
    events, reason = CONTRADICTORY[case]
    anthropic.status, anthropic.streams = 200, True
    anthropic.body = sse(ANTHROPIC_HEAD, *events, *anthropic_tail())
    with pytest.raises(TransportError, match=reason):
        anthropic.ask(path, GO)
    assert "lost" not in anthropic.events
    assert not any(isinstance(each, FunctionCall) for each in anthropic.events)


def test_a_call_that_the_limit_cut_off_needs_no_end(anthropic: Peer) -> None:
    anthropic.status, anthropic.streams = 200, True
    anthropic.body = sse(ANTHROPIC_HEAD, CALL, *anthropic_tail("max_tokens"))
    assert anthropic.ask("stateless", GO).parts == ()


def test_words_that_a_block_begins_with_are_joined_like_all_others(anthropic: Peer) -> None:
    """A pair cut between the start of a block and its first piece is whole, for the callback too."""
    anthropic.status, anthropic.streams = 200, True
    block = [block_start(0, type="text", text="a\ud83c"), block_delta(0, "text_delta", text="\udf31b"), ended(0)]
    anthropic.body = sse(ANTHROPIC_HEAD, *block, *anthropic_tail("end_turn"))
    assert anthropic.ask("stateless", GO).parts == (Text("a🌱b"),)
    assert anthropic.events == ["a", "🌱b"]


def test_a_block_of_another_kind_that_has_a_text_shows_none(anthropic: Peer) -> None:
    """What a callback is given makes up the text of the answer, and an unknown block is no part of it."""
    anthropic.status, anthropic.streams = 200, True
    anthropic.body = sse(
        ANTHROPIC_HEAD, block_start(0, type="hologram", text="x"), ended(0), *anthropic_tail("end_turn")
    )
    assert anthropic.ask("stateless", GO).text == ""
    assert anthropic.events == []


def test_signatures_and_citations_in_odd_places_are_kept_as_far_as_they_are_any(anthropic: Peer) -> None:
    anthropic.status, anthropic.streams = 200, True
    thought = [
        block_start(0, type="thinking", thinking="hm", signature=""),
        block_delta(0, "signature_delta", signature="c2"),
        block_delta(0, "signature_delta", signature="c2ln"),
        ended(0),
    ]
    text = [
        block_start(1, type="text", text="so", citations=5),
        block_delta(1, "citations_delta", citation={"a": 1}),
        ended(1),
    ]
    anthropic.body = sse(ANTHROPIC_HEAD, *thought, *text, *anthropic_tail("end_turn"))
    signed, cited = anthropic.ask("stateless", GO).parts
    assert isinstance(signed, Thought)
    assert signed.provider_data is not None
    assert cited.provider_data is not None
    assert signed.provider_data.data == {"signature": "c2ln"}  # whole each time, as the official SDK takes it
    assert cited.provider_data.data == {"citations": [{"a": 1}]}


def test_an_event_of_many_chunks_is_put_together_once() -> None:
    """Counted, not timed: a piece for every chunk that was looked at again would be the square of its length."""
    event = b'data: {"text": "' + b"x" * 100_000 + b'"}\n\n'
    chunks = [event[at : at + 100] for at in range(0, len(event), 100)]
    splits = 0

    def count(frame: object, what: str, called: Any) -> None:
        nonlocal splits
        splits += what == "c_call" and called.__name__ == "splitlines"

    sys.setprofile(count)
    try:
        (data,) = payloads(chunks)
    finally:
        sys.setprofile(None)
    assert data == event[6:-2]
    assert splits <= 2


# -- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_the_words_of_an_error_are_whole_characters_and_of_bearable_length(peer: Peer, path: Path) -> None:
    message = "a\\ud800b" + "x" * 100_000
    peer.status, peer.streams = 429, False
    peer.body = f'{{"error": {{"code": 429, "type": "rate_limit_error", "message": "{message}"}}}}'.encode()
    with pytest.raises(RateLimitError) as failure:
        peer.ask(path, GO)
    assert failure.value.message.startswith("a\ufffdbxx")
    assert failure.value.message.endswith("(100003 characters)")
    assert len(failure.value.message) < 2_100


@pytest.mark.parametrize("path", PATHS)
def test_a_refusal_with_numbers_that_nobody_can_read_is_still_a_refusal(peer: Peer, path: Path) -> None:
    """Python reads no number of five thousand digits: it must not be what is raised."""
    digits = "9" * 5_000
    messages = {
        **dict.fromkeys(("anthropic", "zai"), f"prompt is too long: {digits[:1500]} tokens > 200000 maximum"),
        "ollama": f"prompt too long; exceeded max context length by {digits[:1500]} tokens (ref: 1)",
        "openai": f"This model's maximum context length is 5 tokens. However, your messages resulted in "
        f"{digits[:1500]} tokens.",
        "google_genai": f"The input token count ({digits[:1500]}) exceeds the maximum number of tokens allowed (5).",
    }
    peer.status, peer.streams = 400, False
    peer.body = json.dumps({"error": {"type": "invalid_request_error", "message": messages[peer.name]}}).encode()
    with pytest.raises((ContextLimitError, InvalidRequestError)):
        peer.ask(path, GO)


@pytest.mark.parametrize("code", ["x", True, 10**30, {"a": 1}, None])
def test_an_error_inside_a_stream_may_have_any_code(gemini: Peer, code: object) -> None:
    gemini.status, gemini.streams = 200, True
    gemini.body = sse({"error": {"code": code, "status": {"a": 1}, "message": "no"}})
    with pytest.raises(ProviderError) as failure:
        gemini.ask("stateless", GO)
    assert failure.value.status in (None, 200)
    assert failure.value.kind is None


@pytest.mark.parametrize("delay", ["9" * 400 + "s", "1e5s", "-5s", "nans", 5, None])
def test_a_delay_that_nobody_can_wait_for_is_none(gemini: Peer, delay: object) -> None:
    gemini.status, gemini.streams = 429, False
    gemini.body = json.dumps({"error": {"code": 429, "message": "no", "details": [{"retryDelay": delay}]}}).encode()
    with pytest.raises(RateLimitError) as failure:
        gemini.ask("stateless", GO)
    assert failure.value.retry_after is None


@pytest.mark.parametrize("figure", [-1, 1 << 70, 10**4000])
def test_a_figure_that_counts_nothing_is_nothing(anthropic: Peer, figure: int) -> None:
    anthropic.status, anthropic.streams = 200, False
    anthropic.body = json.dumps({**ANTHROPIC, "usage": {"input_tokens": figure, "output_tokens": 3}}).encode()
    usage = anthropic.ask("stateless", GO).usage
    assert (usage.prompt_tokens, usage.output_tokens, usage.total_tokens) == (0, 3, 3)
