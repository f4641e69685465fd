"""A transcript as people read it: who said what to whom, with the wire shortened to what one needs to see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal, assert_never

import msgspec

from .._base.counts import counted
from ..judge.finding import Side as Shows
from ..judge.view.wire_bytes import wire_bytes
from ..messages import FunctionCall, Message, Part, Text, Thought, TokenUsage, ToolResult
from ..run import transcript as t
from . import agent_entries, provider_entries
from ._inline_text import printable, shorten
from .stream_drawing import Piece, draw_stream

Side = Literal["turn", "session", "wire", "adapter", "trouble"]

_SHOWS: dict[type[t.Event], Shows] = {
    t.CallBegan: Shows.HISTORY,
    t.WireRequest: Shows.REQUEST,
    t.WireResponse: Shows.STREAM,
    t.Chunk: Shows.CALLBACK,
    t.Thinking: Shows.CALLBACK,
    t.FunctionCallDetected: Shows.CALLBACK,
    t.UsageUpdate: Shows.CALLBACK,
    t.Response: Shows.RESPONSE,
    t.Failed: Shows.ERROR,
}

_LAST_MESSAGES = 4
_LIMIT = 6000
_TEXT_LIMIT = 2000


class Entry(msgspec.Struct, frozen=True):
    """One line of a conversation. `side` says who acts; `text` may be empty or have several lines.

    An answer that came in pieces is drawn as a `stream` instead. `call` is the provider call that it belongs to and
    `exchange` the one on the wire, -1 where there is none; `shows` the side of a finding's place that lies in it.
    `json` says that the text is JSON.
    """

    side: Side
    label: str
    text: str = ""
    stream: tuple[Piece, ...] = ()
    call: int = -1
    exchange: int = -1
    shows: Shows | None = None
    json: bool = False

    def reads_like(self, other: Entry | None) -> bool:
        """Whether both say the same, whichever call of their runs they belong to."""
        if other is None:
            return False
        return msgspec.structs.replace(other, call=self.call, exchange=self.exchange) == self


def conversation(transcript: t.Transcript) -> list[Entry]:
    """The run from its first turn to its end. Everything in it is printable text.

    Turns and calls are counted from 0, as verdicts and JSON paths count them.
    """
    cancels = {event.call: event.at for event in transcript.of(t.Cancelled)}
    entries_read: list[Entry] = []
    for (kind, call), group in groupby(transcript.events, key=lambda event: (type(event), event.call)):
        events = list(group)
        shows = _SHOWS.get(kind)
        if kind is t.Chunk:
            entries = [_pieces("text", [event.text for event in events if isinstance(event, t.Chunk)])]
        elif kind is t.Thinking:
            entries = [_pieces("thinking", [event.text for event in events if isinstance(event, t.Thinking)])]
        elif kind is t.UsageUpdate:
            usages = [event.usage for event in events if isinstance(event, t.UsageUpdate)]
            entries = [Entry("adapter", f"usage callback, {_times(len(usages))}", _usage(usages[-1]))]
        elif kind is t.WireResponse:
            answers = [event for event in events if isinstance(event, t.WireResponse)]
            cancelled = cancels.get(call, "")
            entries = [entry for event in answers for entry in _answered(event, transcript.dialect, cancelled)]
        else:
            entries = [entry for event in events for entry in _entries(event)]
        entries_read.extend(_legible(entry, call, shows) for entry in entries)
    return entries_read


def _legible(entry: Entry, call: int, shows: Shows | None) -> Entry:
    text = shorten(printable(entry.text), _LIMIT)
    return msgspec.structs.replace(entry, label=printable(entry.label), text=text, call=call, shows=shows)


def _entries(event: t.Event) -> Iterator[Entry]:
    match event:
        case t.TurnBegan():
            yield Entry("turn", f"turn {event.turn}", event.text)
        case t.CallBegan():
            yield Entry("session", _call_label(event), _messages(event.messages[-_LAST_MESSAGES:], event.messages))
        case t.WireRequest():
            extra = " (not scripted)" if event.extra else ""
            body, is_json = _wire_body(event.body), not isinstance(event.body, str)
            yield Entry("wire", f"→ {event.method} {event.path}{extra}", body, exchange=event.exchange, json=is_json)
            for finding in event.findings:
                verb = "refused" if finding.get("enforced") else "noted"
                where, message = finding.get("path", "$"), finding.get("message", "")
                yield Entry("trouble", f"{verb}: {finding.get('rule', '?')} at {where}", str(message))
        case t.FunctionCallDetected():
            yield Entry("adapter", "function call callback", _part(event.function_call))
        case t.LateCallback():
            yield Entry("trouble", f"{event.kind} was called after the call had returned")
        case t.Response():
            yield from _returned(event)
        case t.Failed():
            status = f" (status {event.status})" if event.status is not None else ""
            yield Entry("trouble", f"the {event.scope} raised {event.error}{status}", event.message)
        case t.ToolRun():
            yield Entry("session", f"tool {event.name}: {event.outcome}", _json(event.args), json=True)
        case t.ToolWentOn():
            how = "was waited for" if event.waited else "was cancelled" if event.cancelled else "went on"
            yield Entry(
                "session",
                f"tool {event.name}, in the background: {how}",
                _json(msgspec.to_builtins(event.results)),
                json=True,
            )
        case t.Retried():
            yield Entry("session", f"retry {event.attempt} after {event.delay:g} s", event.error)
        case t.AgentsWatched():
            events_text = ", ".join(
                f"{one.agent} {one.kind} {one.ending or one.activity}".strip() for one in event.events
            )
            label = f"agents after {event.after}: {', '.join(f'{one.agent} {one.activity}' for one in event.now)}"
            yield Entry("session", label, events_text)
        case t.ChildEnded():
            text = f"{event.error}: {event.message}" if event.error else event.text
            yield Entry("session", f"turn of child {event.child}, beside others: {event.outcome}", text)
        case t.TakenBack():
            yield Entry("session", "text taken back", event.text)
        case t.HistorySnapshot():
            label = f"history of the {event.owner} after {event.after}: {counted(len(event.messages), 'message')}"
            yield Entry("session", label, _messages(event.messages[-_LAST_MESSAGES:], event.messages))
        case t.TurnEnded():
            yield Entry("turn", f"turn {event.turn} ended: {event.outcome}", event.shown)
        case t.RunEnded():
            yield from _ended(event)
        case t.Refused():
            yield Entry("session", f"{event.operation} was refused: {event.error}", event.message)
        case t.HelperCalled():
            yield _helper_entry(event)
        case t.UsageReport():
            yield Entry("session", "usage that the session gives", _usage(event.usage))
        case t.ContextReport():
            yield Entry("session", f"context taken by the session's account: {counted(event.tokens, 'token')}")
        case t.SpanMade():
            yield Entry("session", _span_label(event), _json(event.attributes), json=True)
        case t.ProviderSeen() | t.ProviderTouched() | t.ProviderHolds() | t.ProviderAsked() | t.Accounts():
            yield Entry("session", *provider_entries.provider_entry(event))
        case t.SessionStepped() | t.SessionInForce() | t.SaidBeside() | t.Killed() | t.LeftBehind():
            yield Entry("session", *agent_entries.agent_entry(event))
        case (
            t.SessionOpened()
            | t.Cancelled()
            | t.Interjected()
            | t.Collected()
            | t.Saved()
            | t.Loaded()
            | t.Swapped()
            | t.Reset()
            | t.Reverted()
        ):
            yield Entry("session", _session_event_text(event))
        case t.Chunk() | t.Thinking() | t.UsageUpdate() | t.WireResponse():
            raise AssertionError("told together with its neighbours")
        case _:
            assert_never(event)


_Happening = (
    t.SessionOpened | t.Cancelled | t.Interjected | t.Collected | t.Saved | t.Loaded | t.Swapped | t.Reset | t.Reverted
)


def _session_event_text(event: _Happening) -> str:
    match event:
        case t.SessionOpened():
            return f"session opened on the {event.path} path"
        case t.Interjected(at=at, text=text):
            return f"the user said {_json(text)} (at {at})"
        case t.Cancelled():
            return f"{'stopped' if event.stopped else 'cancelled'} at {event.at}"
        case t.Collected():
            return f"history collected: {counted(len(event.before), 'message')} before, {len(event.after)} after"
        case t.Saved():
            return f"session saved, {counted(len(event.data), 'character')}"
        case t.Loaded():
            what = "damaged session" if event.damaged else "session"
            where = f" on the {event.path} path" if event.path else ""
            return f"{what} loaded{where}, {counted(len(event.messages), 'message')}"
        case t.Swapped():
            return f"provider replaced by a fresh {event.name}"
        case t.Reset():
            return "conversation reset"
        case t.Reverted():
            return f"went back to the end of turn {event.to} of the history"


def _pieces(what: str, pieces: list[str]) -> Entry:
    return Entry("adapter", f"{what} callback, {_times(len(pieces))}", shorten(" · ".join(pieces), _TEXT_LIMIT))


def _call_label(event: t.CallBegan) -> str:
    how = "streamed" if event.streamed else "in one piece"
    attempt = f", attempt {event.attempt + 1}" if event.attempt else ""
    probe = f"{event.probe} probe: " if event.probe else ""
    sent = f"{counted(len(event.messages), 'message')}, {counted(len(event.tools), 'tool')}"
    return f"{probe}call {event.call} {how}: {sent}{attempt}"


def _span_label(event: t.SpanMade) -> str:
    below = f" below {event.parent}" if event.parent >= 0 else ""
    ended = "" if event.ended else ", never ended"
    status = f", {event.status}" if event.status != "unset" else ""
    return f"span {event.span}{below}: {event.name}{status}{ended}"


def _answered(event: t.WireResponse, dialect: str, cancelled: str) -> Iterator[Entry]:
    stream = draw_stream(event, dialect, cancelled)
    has_content = any(not piece.is_mark for piece in stream)
    yield Entry("wire", _response_label(event), "" if has_content else _decoded(event), stream, exchange=event.exchange)
    if (written := wire_bytes(event)) is not None:
        yield Entry("wire", f"← bytes as sent, {written.mark}", written.text, exchange=event.exchange)


def _response_label(event: t.WireResponse) -> str:
    fault = f", fault {event.fault}" if event.fault else ""
    held_until = f", held until {event.released}" if event.held else ""
    return f"← {event.status}, {counted(event.written, 'event')}, {event.ended}{fault}{held_until}"


def _decoded(event: t.WireResponse) -> str:
    return event.data.decode("utf-8", "backslashreplace")


def _returned(event: t.Response) -> Iterator[Entry]:
    answer = event.response
    parts = "\n".join(_part(part) for part in answer.parts) or "(no parts)"
    yield Entry("adapter", f"returned, finish reason {answer.finish_reason}", f"{parts}\n{_usage(answer.usage)}")
    if event.mutated:
        yield Entry("trouble", "the call changed its arguments", "\n".join(event.mutated))


def _helper_entry(event: t.HelperCalled) -> Entry:
    label = f"{event.method}() with the messages of call {event.call}"
    if event.error:
        return Entry("trouble", f"{label} raised {event.error}", event.said)
    found = counted(len(event.messages), "message") if event.returned is None else str(event.returned)
    return Entry("adapter", f"{label}{', alone' if event.alone else ''}", found)


def _ended(event: t.RunEnded) -> Iterator[Entry]:
    yield Entry("turn" if event.how == "completed" else "trouble", f"the run ended: {event.how}", event.detail)
    if event.stdout:
        yield Entry("adapter", "printed", shorten(event.stdout, _TEXT_LIMIT))
    if event.stderr:
        yield Entry("adapter", "wrote to standard error", shorten(event.stderr, _TEXT_LIMIT))
    if event.leaks:
        yield Entry("trouble", "the key leaked", "\n".join(event.leaks))


def _wire_body(body: Any) -> str:
    """A request's body as indented JSON; of a long conversation only the last messages."""
    if isinstance(body, dict) and isinstance(body.get("messages"), list) and len(body["messages"]) > _LAST_MESSAGES:
        left_out = len(body["messages"]) - _LAST_MESSAGES
        body = {
            **body,
            "messages": [f"… {counted(left_out, 'earlier message')} …", *body["messages"][-_LAST_MESSAGES:]],
        }
    return body if isinstance(body, str) else _json(body, indent=1)


def _messages(shown: tuple[Message, ...], every: tuple[Message, ...]) -> str:
    earlier = [f"… {len(every) - len(shown)} earlier …"] if len(every) > len(shown) else []
    lines = [f"{message.role}: " + " | ".join(_part(part) for part in message.parts) for message in shown]
    return shorten("\n".join([*earlier, *lines]), _TEXT_LIMIT)


def _part(part: Part) -> str:
    match part:
        case Text():
            return _json(part.text)
        case Thought():
            return f"thought {_json(part.text)}"
        case FunctionCall():
            return f"call {part.id} {part.name}({_json(part.args)})"
        case ToolResult():
            error = "error " if part.is_error else ""
            return f"{error}result for {part.call_id}: {_json(part.result)}"
        case _:
            return shorten(f"{type(part).__name__} {_json(msgspec.to_builtins(part))}", 300)


def _usage(usage: TokenUsage) -> str:
    figures = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return "tokens: " + ", ".join(f"{name.removesuffix('_tokens')} {value}" for name, value in figures.items() if value)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _times(count: int) -> str:
    return "once" if count == 1 else counted(count, "time")
