"""What becomes of a call that fails or is cancelled, whatever the API: scripted steps, no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, ProviderError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Part, ProviderResponse, Text, TokenUsage
from turnproof_adapters._answers import Listeners
from turnproof_adapters._calling import Caller, Source


class SdkError(Exception):
    """What the SDK of this service raises."""


def typed(error: Exception) -> ProviderError:
    return TransportError(f"typed: {error}")


CALLER = Caller((SdkError,), typed, lambda part: isinstance(part, Text))


@dataclass
class Assembler:
    """Texts, `end`, and `error` as events."""

    texts: list[str] = field(default_factory=list)
    complete: bool = False
    failure: ProviderError | None = None
    refuses: ProviderError | None = None
    afterwords: list[str] = field(default_factory=list)

    def feed(self, event: str) -> None:
        if self.complete:
            self.afterwords.append(event)
        elif event == "error":
            self.failure = OverloadedError("told in the stream", status=200)
        elif event == "end":
            self.complete = True
        else:
            self.texts.append(event)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(map(Text, self.texts))

    def response(self) -> ProviderResponse:
        if self.refuses is not None:
            raise self.refuses
        return ProviderResponse(parts=self.parts, finish_reason=FinishReason.STOP)

    def cancelled(self) -> ProviderResponse:
        return ProviderResponse(parts=self.parts, finish_reason=FinishReason.CANCELLED)


@dataclass
class Stream:
    """Events in order; an exception among them is raised, anything else that can be called is."""

    events: Sequence[str | Exception | Callable[[], object]]
    closed: bool = False

    def __call__(self) -> Source[str]:
        return Source(iter(self._read_events()), self.close)

    def _read_events(self) -> Iterator[str]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            if callable(event):
                event()
            else:
                yield event

    def close(self) -> None:
        self.closed = True


def raising(error: Exception, before: Callable[[], object] = lambda: None) -> Callable[[], Source[str]]:
    def ask() -> Source[str]:
        before()
        raise error

    return ask


# -- streams


def test_a_stream_is_read_to_its_end_and_hung_up() -> None:
    stream = Stream(["Bed 3", "end"])
    assert CALLER.call_stream(stream, Assembler(), None).text == "Bed 3"
    assert stream.closed


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (["Bed 3"], "the stream ended before its end marker"),
        (["Bed 3", SdkError("reset")], "typed: reset"),
        (["Bed 3", "error", "never read"], "told in the stream"),
    ],
    ids=["no end", "broken", "an error event"],
)
def test_a_stream_that_fails_raises_with_what_had_arrived(events: list[str | Exception], message: str) -> None:
    stream = Stream(events)
    with pytest.raises(ProviderError) as failure:
        CALLER.call_stream(stream, Assembler(), None)
    assert str(failure.value) == message
    assert failure.value.partial == (Text("Bed 3"),)
    assert failure.value.__context__ is None
    assert stream.closed


def test_an_answer_that_cannot_be_used_raises_with_what_had_arrived() -> None:
    with pytest.raises(OverloadedError, match="malformed") as failure:
        CALLER.call_stream(Stream(["Bed 3", "end"]), Assembler(refuses=OverloadedError("malformed")), None)
    assert failure.value.partial == (Text("Bed 3"),)


def test_a_request_that_fails_raises_what_it_means() -> None:
    with pytest.raises(TransportError, match="typed: refused") as failure:
        CALLER.call_stream(raising(SdkError("refused")), Assembler(), None)
    assert failure.value.__context__ is None


def test_a_stream_that_is_cancelled_gives_what_had_arrived() -> None:
    token = CancelToken()
    stream = Stream(["Bed 3", token.cancel, "is dry", "end"])
    response = CALLER.call_stream(stream, Assembler(), token)
    assert (response.finish_reason, response.text) == (FinishReason.CANCELLED, "Bed 3is dry")
    assert stream.closed


def test_a_cancel_before_the_request_is_written_raises_and_gives_no_answer() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled, match="before its request was written"):
        CALLER.call_stream(raising(SdkError("cut off"), token.cancel), Assembler(["old"]), token)


def test_what_comes_behind_the_end_is_read_as_long_as_it_may_be_a_keep_alive() -> None:
    assembler = Assembler()
    CALLER.call_stream(Stream(["end", *["ping"] * 100]), assembler, None)
    assert 0 < len(assembler.afterwords) < 20
    assert set(assembler.afterwords) == {"ping"}


@pytest.mark.parametrize("last", [[], [SdkError("reset")]], ids=["over", "broken"])
def test_how_the_body_ends_behind_a_complete_answer_does_not_matter(last: list[Exception]) -> None:
    assembler = Assembler()
    assert CALLER.call_stream(Stream(["Bed 3", "end", "ping", *last]), assembler, None).text == "Bed 3"
    assert assembler.afterwords == ["ping"]


# -- whole answers


USAGE = TokenUsage(prompt_tokens=7, output_tokens=3, total_tokens=10)


def read(answer: str, listeners: Listeners) -> ProviderResponse:
    if answer == "unreadable":
        raise OverloadedError("cannot be read")
    if listeners.on_chunk is not None:
        listeners.on_chunk(answer)
    parts = (Text(answer), FunctionCall("call_1", "label_bed", {}))
    return ProviderResponse(parts=parts, usage=USAGE, finish_reason=FinishReason.TOOL_USE, model="m-1")


def test_a_whole_answer_is_told_to_the_listeners() -> None:
    texts: list[str] = []
    assert (
        CALLER.call_batch(lambda: "Bed 3", read, Listeners(texts.append), None).finish_reason is FinishReason.TOOL_USE
    )
    assert texts == ["Bed 3"]


def test_an_answer_that_came_after_the_cancel_keeps_what_stands_alone_and_is_told_to_nobody() -> None:
    token, texts = CancelToken(), list[str]()

    def ask() -> str:
        token.cancel()
        return "Bed 3"

    response = CALLER.call_batch(ask, read, Listeners(texts.append), token)
    assert response == ProviderResponse(
        parts=(Text("Bed 3"),), usage=USAGE, finish_reason=FinishReason.CANCELLED, model="m-1"
    )
    assert texts == []


def test_an_answer_that_cannot_be_read_after_the_cancel_is_none() -> None:
    token = CancelToken()

    def ask() -> str:
        token.cancel()
        return "unreadable"

    with pytest.raises(Cancelled):
        CALLER.call_batch(ask, read, Listeners(), token)


def test_a_call_that_fails_raises_what_it_means() -> None:
    with pytest.raises(TransportError, match="typed: refused"):
        CALLER.call_batch(
            raising(SdkError("refused")), lambda answer, listeners: read("", listeners), Listeners(), None
        )


# -- other requests


def test_another_request_gives_its_value_or_a_typed_failure() -> None:
    assert CALLER.simple(lambda: 3) == 3
    with pytest.raises(TransportError, match="typed: refused"):
        CALLER.simple(raising(SdkError("refused")))


Ask = Callable[[], Source[str]]
CALLS: dict[str, Callable[[Ask, CancelToken], object]] = {
    "whole": lambda ask, token: CALLER.call_batch(ask, lambda _, listeners: read("", listeners), Listeners(), token),
    "streamed": lambda ask, token: CALLER.call_stream(ask, Assembler(), token),
    "simple": CALLER.simple,
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_asked_once_the_token_is_set(call: str) -> None:
    token, calls = CancelToken(), list[str]()
    token.cancel()

    def ask() -> Source[str]:
        calls.append(call)
        return Stream(["end"])()

    with pytest.raises(Cancelled):
        CALLS[call](ask, token)
    assert calls == []


def test_a_request_that_fails_because_of_the_cancel_says_so() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled, match="while a request of its preparation was open"):
        CALLER.simple(raising(SdkError("cut off"), token.cancel), token)


def test_a_failure_with_a_token_that_is_not_set_is_the_failure() -> None:
    with pytest.raises(TransportError, match="typed: refused"):
        CALLER.simple(raising(SdkError("refused")), CancelToken())
