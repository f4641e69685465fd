"""Streams over a real socket: chunk borders anywhere, what must be ignored, what must not, and how they may end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from turnproof.errors import OverloadedError, ProviderError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Text, Thought

from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .adapter_kit import AdapterKit, OpenedPath, Subject, outcome, rich_parts
from .subjects import SUBJECTS, batch_and_stream, each_case, each_claimed, each_subject, parametrize_subject
from .wire_parts import call, text

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
WORDS = "it’s 北🌍\n\u2028 done"
MALFORMED = '{"path": "/'


def stream_events(events: list[bytes], exchange: Exchange) -> None:
    exchange.stream(*events)


def rich_stream(kit: AdapterKit) -> list[bytes]:
    return kit.stream(*rich_parts(kit), ending="calls")


def slices(data: bytes, sizes: Iterator[int]) -> Iterator[bytes]:
    while data:
        size = next(sizes)
        yield data[:size]
        data = data[size:]


@each_subject
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 64), (4096,)], ids=str)
def test_chunk_borders_change_nothing(subject: Subject, sizes: tuple[int, ...]) -> None:
    data, recorder = b"".join(rich_stream(subject.kit)), CallbackRecorder()
    with scripted(lambda exchange: exchange.stream(*slices(data, itertools.cycle(sizes)))) as server:
        response = subject.open(server.url).stream(recorder)
    *thoughts, words, read = response.parts
    assert [part.text for part in thoughts if isinstance(part, Thought)] == ["hm ’"] * len(thoughts)
    assert len(thoughts) == ("on_thinking" in subject.kit.callbacks)
    assert isinstance(words, Text)
    assert isinstance(read, FunctionCall)
    assert (words.text, read.name, read.args) == (WORDS, "read", {"ü": "’北🌍"})
    assert recorder.text == WORDS
    assert recorder.calls == [read]


@each_subject
def test_a_stream_gives_what_the_batch_answer_of_the_same_parts_gives(subject: Subject) -> None:
    parts, recorder = rich_parts(subject.kit), CallbackRecorder()
    body, events = subject.kit.answer(*parts, ending="calls"), subject.kit.stream(*parts, ending="calls")
    with scripted(lambda exchange: exchange.stream(*events), lambda exchange: exchange.answer(body)) as server:
        streamed = subject.open(server.url).stream(recorder)
        assert outcome(streamed) == outcome(subject.open(server.url).batch())
    assert streamed.finish_reason is FinishReason.TOOL_USE
    assert [kind for kind, _ in itertools.groupby(recorder.kinds)] == [
        *(["thinking"] if "on_thinking" in subject.kit.callbacks else []),
        "text",
        "call",
    ]
    assert recorder.usage[-1] == streamed.usage


def with_line_ends(end: bytes) -> Callable[[bytes], bytes]:
    return lambda event: event.replace(b"\r\n", b"\n").replace(b"\n", end)


SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "no-space": lambda event: event.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
    "lf": with_line_ends(b"\n"),
    "crlf": with_line_ends(b"\r\n"),
    "cr": with_line_ends(b"\r"),
    "comments": lambda event: b": keep-alive\n\n" + event,
    "retry-times": lambda event: b"retry: 1000\n\n" + event,
    "ids": lambda event: b"id: 7\n" + event,
    "names": lambda event: event if event.startswith(b"event:") else b"event: message\n" + event,
}


def check_same_outcome(subject: Subject, events: list[bytes]) -> None:
    with (
        scripted(lambda exchange: exchange.stream(*events)) as server,
        scripted(lambda exchange: exchange.stream(*rich_stream(subject.kit))) as plain,
    ):
        assert outcome(subject.open(server.url).stream()) == outcome(subject.open(plain.url).stream())


@each_case((subject, spelling) for subject in SUBJECTS for spelling in subject.claimed(SPELLINGS))
def test_other_spellings_of_the_same_events_change_nothing(subject: Subject, case: str) -> None:
    check_same_outcome(subject, list(map(SPELLINGS[case], rich_stream(subject.kit))))


@each_subject
def test_events_that_say_nothing_or_that_nobody_knows_are_ignored(subject: Subject) -> None:
    first, *rest = rich_stream(subject.kit)
    noise = subject.kit.ignored_events
    check_same_outcome(subject, [first, *(each for event in rest for each in (*noise, event))])


@each_subject
def test_a_stream_that_ends_behind_any_event_is_a_transport_error_with_what_stands_alone(subject: Subject) -> None:
    events = rich_stream(subject.kit)
    cuts = range(len(events) - subject.kit.optional_last_events)
    with scripted(*(lambda exchange, cut=cut: exchange.stream(*events[:cut]) for cut in cuts)) as server:
        opened = subject.open(server.url)
        for _ in cuts:
            recorder = CallbackRecorder()
            with pytest.raises(TransportError) as failure:
                opened.stream(recorder)
            assert failure.value.retryable
            assert all(isinstance(part, Text | Thought) for part in failure.value.partial)
            assert "".join(part.text for part in failure.value.partial if isinstance(part, Text)) == recorder.text


@each_subject
def test_a_stream_is_whole_without_the_last_events_that_are_optional(subject: Subject) -> None:
    events = rich_stream(subject.kit)
    for cut in range(len(events) - subject.kit.optional_last_events, len(events)):
        with scripted(partial(stream_events, events[:cut])) as server:
            response = subject.open(server.url).stream()
        assert (response.text, response.finish_reason) == (WORDS, FinishReason.TOOL_USE)


def half_a_chunk(exchange: Exchange, kit: AdapterKit) -> None:
    exchange.write(b"400\r\n" + kit.stream(text("more"))[0][:5])
    exchange.connection.close()


def reset(exchange: Exchange, kit: AdapterKit) -> None:
    exchange.reset()


def ended(exchange: Exchange, kit: AdapterKit) -> None:
    exchange.end()


def half_an_event(exchange: Exchange, kit: AdapterKit) -> None:
    exchange.chunk(kit.stream(text("more"))[0][:-5])
    exchange.end()


def broken(data: bytes) -> Callable[[Exchange, AdapterKit], None]:
    def script(exchange: Exchange, kit: AdapterKit) -> None:
        for event in (kit.broken_event(data), *kit.stream(text("more"))):
            exchange.chunk(event)
        exchange.end()

    return script


TROUBLES: dict[str, Callable[[Exchange, AdapterKit], None]] = {
    "half-a-chunk": half_a_chunk,
    "reset": reset,
    "ended": ended,
    "half-an-event": half_an_event,
    "half-a-document": broken(b'{"type": "content'),
    "not-utf-8": broken(b'{"type": "\xff\xfe"}'),
    "a-number": broken(b"7"),
    "a-page": broken(b"<html>sorry</html>"),
}


@each_case((subject, trouble) for subject in SUBJECTS for trouble in subject.claimed(TROUBLES))
def test_a_stream_that_breaks_is_a_transport_error_with_what_had_arrived(subject: Subject, case: str) -> None:
    moment = subject.kit.cancel_moments()["in-text"]

    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(moment.events))
        TROUBLES[case](exchange, subject.kit)

    recorder = CallbackRecorder()
    with scripted(script) as server, pytest.raises(TransportError) as failure:
        subject.open(server.url, **moment.options).stream(recorder)
    assert failure.value.retryable
    assert tuple(type(part) for part in failure.value.partial) == moment.parts
    assert recorder.text == moment.text


@each_subject
def test_an_error_event_under_status_200_is_the_error_that_it_names(subject: Subject) -> None:
    moment = subject.kit.cancel_moments()["in-text"]
    events, recorder = [*moment.events, subject.kit.overloaded_event("Sorry")], CallbackRecorder()
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(OverloadedError) as failure:
        subject.open(server.url, **moment.options).stream(recorder)
    assert failure.value.message == "Sorry"
    assert tuple(type(part) for part in failure.value.partial) == moment.parts
    assert recorder.text == moment.text


@each_case((subject, kind) for subject in SUBJECTS for kind in subject.kit.failure_kinds)
def test_a_failure_in_a_stream_is_typed_by_what_the_api_calls_it(subject: Subject, case: str | None) -> None:
    """Whoever read it, the SDK or we; its words do not show the key."""
    moment = subject.kit.cancel_moments()["in-text"]
    events = [*moment.events, subject.kit.failure_event(case, f"Sorry, {subject.kit.key}")]
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(ProviderError) as failure:
        subject.open(server.url, **moment.options).stream()
    found = failure.value
    assert type(found) is subject.kit.failure_kinds[case]
    assert (found.kind, found.message, found.status, found.retry_after) == (case, "Sorry, ***", 200, None)
    assert tuple(type(part) for part in found.partial) == moment.parts


TEXT_ARGUMENTS = [subject for subject in SUBJECTS if subject.kit.arguments_are_text]
each_subject_with_text_arguments = parametrize_subject(TEXT_ARGUMENTS)


@each_subject_with_text_arguments
def test_malformed_arguments_in_a_call_that_was_not_cut_are_an_error_and_never_run(subject: Subject) -> None:
    recorder, events = CallbackRecorder(), subject.kit.stream(call("a", "rm", MALFORMED), ending="calls")
    with (
        scripted(lambda exchange: exchange.stream(*events)) as server,
        pytest.raises(TransportError, match="malformed arguments for a call of 'rm'"),
    ):
        subject.open(server.url).stream(recorder)
    assert recorder.calls == []


@each_subject_with_text_arguments
def test_malformed_arguments_in_a_call_that_the_limit_cut_are_dropped(subject: Subject) -> None:
    events = subject.kit.stream(text("so"), call("a", "rm", MALFORMED), ending="limit")
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = subject.open(server.url).stream()
    assert response.parts == (Text("so"),)
    assert response.finish_reason is FinishReason.MAX_TOKENS


class CallersError(Exception):
    """An error that only the caller knows."""


@each_case((subject, name) for subject in SUBJECTS for name in subject.kit.callbacks)
@pytest.mark.parametrize(
    "error",
    [CallersError("mine"), TransportError("mine too"), OSError("disk full"), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_what_a_callback_raises_passes_through_unchanged_and_hangs_up(
    subject: Subject, case: str, error: BaseException
) -> None:
    events = rich_stream(subject.kit)
    # Where calls arrive with the finish, the stream is held open behind it.
    unsent = 1 if subject.kit.calls_arrive_whole else subject.kit.optional_last_events

    def fail(_: object) -> None:
        raise error

    def hold(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(events if case != "on_thinking" else events[:-unsent]))
        assert exchange.wait_for_hangup()

    with scripted(hold, lambda exchange: exchange.stream(*events)) as server:
        opened = subject.open(server.url)
        with pytest.raises(type(error)) as raised:
            opened.stream({**CallbackRecorder().callbacks, case: fail})
        assert raised.value is error
        assert server.hung_up.wait(LIMIT)
        assert opened.stream().text == WORDS


@each_claimed("connection-reuse")
@pytest.mark.usefixtures("patient")
def test_a_connection_is_used_again_after_a_whole_stream_and_after_a_batch_answer(subject: Subject) -> None:
    scripts = [
        lambda exchange: exchange.stream(*subject.kit.stream(text("a", "b"))),
        lambda exchange: exchange.answer(subject.kit.answer(text("ab"))),
    ]
    with scripted(*scripts, *scripts) as server:
        opened = subject.open(server.url)
        assert [opened.ask(streamed).text for streamed in (True, False, True, False)] == ["ab"] * 4
        assert (len(server.requests), server.connections) == (4, 1)


@each_subject
def test_a_complete_answer_is_not_held_up_by_a_service_that_does_not_end_the_body(subject: Subject) -> None:
    events = rich_stream(subject.kit)

    def linger(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(events))
        assert exchange.wait_for_hangup()

    with scripted(linger, lambda exchange: exchange.stream(*events)) as server:
        opened = subject.open(server.url)
        assert opened.stream().finish_reason is FinishReason.TOOL_USE
        assert server.hung_up.wait(LIMIT)
        assert opened.stream().finish_reason is FinishReason.TOOL_USE


@each_subject
@batch_and_stream
def test_silence_beyond_the_limit_is_a_transport_error(subject: Subject, streamed: bool) -> None:
    def silent(exchange: Exchange) -> None:
        if streamed:
            exchange.stream_head()
            exchange.chunk(subject.kit.stream(text("so ", "far"))[0])
        exchange.wait_for_hangup()

    with scripted(silent) as server:
        opened: OpenedPath = subject.open(server.url, timeout=0.2)
        with pytest.raises(TransportError, match="silent"):
            opened.ask(streamed)
        assert server.hung_up.wait(LIMIT)
