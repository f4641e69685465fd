"""Hand-made transcripts of a well-behaved adapter, to be spoilt one event at a time.

`RunBuilder` holds a conversation the way a session does: each `call()` sends the history as it stands, in the plain
form of the Messages API, and answers with what the dialect renders. So a good transcript is a few lines long, and
what a bad one changes is all that the reader has to look at.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from turnproof import messages as m
from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Refusal, Rendered, Reply, ReplyPart, Rule, World
from turnproof.judge.view import View
from turnproof.run import transcript as t
from turnproof.scenarios.model import Scenario, ScriptRound, Turn

from .wire import MODEL, rename, wire_body

DIALECT = dialect("anthropic-messages")
_HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01", "authorization": "[key]"}

E = TypeVar("E", bound=t.Event)


class RunBuilder:
    """A run in the making; `view()` ends it."""

    def __init__(
        self,
        *turns: Turn,
        system: str | None = "You keep a greenhouse log.",
        tools: Sequence[m.ToolSchema] = (),
        mode: str = "stream",
        path: str = "stateless",
        repeat: int = 0,
        cache: bool = False,
        name: str = "made",
        options: dict[str, Any] | None = None,
        names: dict[str, str] | None = None,
    ) -> None:
        self.scenario = Scenario(
            name=name, title=name, turns=turns, system=system, tools=tuple(tools), cache=cache, options=options or {}
        )
        self.key = t.RunKey(name, path, mode, repeat)  # type: ignore[arg-type]
        self.events: list[t.Event] = []
        self.history: list[m.Message] = []
        self.system, self.tools = system, tuple(tools)
        self.options = dict(options or {})
        self.names = dict(names or {})
        self._turn = self._call = self._exchange = -1
        self._round = 0
        self._shown = ""
        self._world = World.with_any_key(DIALECT.models)

    # -- turns --------------------------------------------------------------------------------------------------

    def turn(self, *parts: str | m.Part) -> RunBuilder:
        """The user says something."""
        self._turn, self._round, self._shown = self._turn + 1, 0, ""
        message = m.Message.user(*parts)
        self.history.append(message)
        self.add(t.TurnBegan(text=message.text, turn=self._turn))
        return self

    def results(self, *results: m.ToolResult) -> RunBuilder:
        """The tools of the last answer have run."""
        self.history.append(m.Message.tool(*results))
        self._round += 1
        return self

    def end(self, outcome: str = "answer") -> RunBuilder:
        """The turn is over."""
        text = self.history[-1].text if outcome == "answer" else ""
        self.add(t.TurnEnded(outcome=outcome, shown=self._shown, text=text, turn=self._turn))  # type: ignore[arg-type]
        return self.snapshot()

    def snapshot(self, after: str = "turn") -> RunBuilder:
        """The histories as they are now."""
        for owner in ("session", "provider") if self.key.path == "legacy" else ("session",):
            self.add(
                t.HistorySnapshot(
                    owner=owner,
                    messages=tuple(self.history),
                    after=after,
                    turn=max(self._turn, 0),
                )
            )
        return self

    def operated(self, done: str, *events: t.Event, history: Sequence[m.Message] | None = None) -> RunBuilder:
        """An operation ahead of the next turn, by the word that scenarios have for it, and what is held after it."""
        self.history = list(self.history if history is None else history)
        where = self._turn + 1
        snapshot = t.HistorySnapshot(owner="session", messages=tuple(self.history), after=done, turn=where)
        return self.add(*(replace(event, turn=where) for event in events), snapshot)

    def add(self, *events: t.Event) -> RunBuilder:
        """Record events as they are."""
        self.events.extend(events)
        return self

    # -- calls --------------------------------------------------------------------------------------------------

    def call(
        self,
        *answer: str | m.Part | ReplyPart,
        finish: m.FinishReason | None = None,
        usage: dict[str, int] | None = None,
        prompt: PromptUsage | None = None,
        schema: Any = None,
        probe: str = "",
        cut: int | None = None,
        fault: str | None = None,
        returns: bool = True,
    ) -> RunBuilder:
        """One provider call. `cut` holds the stream after that many events and cancels; a `fault` leaves the answer
        as it is, save that it is named; with `returns=False` nothing is returned (add a `Failed` yourself)."""
        parts = tuple(self._with_wire_name(_reply_part(part)) for part in answer)
        calls = any(isinstance(part.part, m.FunctionCall) and not part.broken for part in parts)
        reply = Reply(parts, finish or (m.FinishReason.TOOL_USE if calls else m.FinishReason.STOP), usage=usage or {})
        call, where = self._request(schema, probe)
        counted = prompt or PromptUsage(DIALECT.count(call))
        rendered = DIALECT.render(call, reply, counted, self._world, f"{self._turn}/{self._round}")
        events = rendered.events if cut is None else rendered.events[:cut]
        self._answered(rendered, events, where, cut, fault, counted)
        if cut is not None:
            self.add(t.Cancelled(at="event", turn=self._turn))
        if returns and not probe:
            self._returned(rendered, events, where, cut is not None, schema)
        elif probe:
            self.add(t.Response(response=self._response(rendered, events, False, schema), **where))
        return self

    def refused(
        self, status: int, error: t.Failed, message: str | None = None, retry_after: float | None = None
    ) -> RunBuilder:
        """One provider call that the API answers with an error, and that raises."""
        _, where = self._request(None, "")
        kind, usual = DIALECT.error_kind(status)
        rule = Rule("scripted")
        rendered = DIALECT.render_refusal(Refusal(rule, status, kind, message or usual, retry_after=retry_after), "0")
        self._answered(rendered, rendered.events, where, None, f"status-{status}", PromptUsage(0))
        self.add(replace(error, **where))
        return self

    def failed(self, error: t.Failed) -> RunBuilder:
        """The last call raises."""
        return self.add(replace(error, turn=self._turn, call=self._call))

    def called_with_a_set_token(self, ended: t.Failed | t.Response) -> RunBuilder:
        """The last call is made again at the adapter, with a token that is set: nothing is sent, and it ends so."""
        first = next(event for event in reversed(self.events) if isinstance(event, t.CallBegan))
        where: dict[str, Any] = {"turn": -1, "call": first.call, "probe": "cancelled"}
        return self.add(replace(first, **where), replace(ended, **where))

    def retried(self) -> RunBuilder:
        """The session waits before the next attempt."""
        return self.add(t.Retried(attempt=1, delay=1.0, error="OverloadedError", turn=self._turn))

    def take_back(self) -> RunBuilder:
        """The session forgets the turn's messages."""
        while self.history and self.history.pop().role != "user":
            pass
        return self

    def _with_wire_name(self, part: ReplyPart) -> ReplyPart:
        if not isinstance(part.part, m.FunctionCall):
            return part
        return dataclasses.replace(part, part=replace(part.part, name=self.names.get(part.part.name, part.part.name)))

    def _request(self, schema: Any, probe: str) -> tuple[Call, dict[str, Any]]:
        self._call += 0 if probe else 1
        self._exchange += 1
        where: dict[str, Any] = {"turn": -1 if probe else self._turn, "call": self._call, "probe": probe}
        began = t.CallBegan(
            messages=tuple(self.history),
            system=self.system,
            tools=self.tools,
            round=self._round,
            streamed=self.key.mode == "stream",
            response_schema=schema,
            **where,
        )
        body = wire_body(self.history, self.system, self.tools, self.key.mode == "stream", schema, self.options)
        rename(body, self.names)
        raw = msgspec.json.encode(body)
        call = DIALECT.parse(HttpRequest("POST", "/v1/messages", {}, _HEADERS, raw), self._world)
        assert isinstance(call, Call), call
        digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
        self.add(
            began,
            t.WireRequest(
                exchange=self._exchange,
                method="POST",
                path="/v1/messages",
                headers=_HEADERS,
                body=body,
                digest=digest,
                operation="generate",
                **where,
            ),
        )
        return call, where

    def _answered(
        self,
        rendered: Rendered,
        events: Sequence[Any],
        where: dict[str, Any],
        cut: int | None,
        fault: str | None,
        prompt: PromptUsage,
    ) -> None:
        self.add(
            t.WireResponse(
                exchange=self._exchange,
                status=rendered.status,
                headers={
                    key: value for key, value in rendered.headers.items() if key in ("content-type", "retry-after")
                },
                body=b"".join(event.data for event in events).decode(),
                written=len(events),
                ended="cut-by-peer" if cut is not None else "completed",
                held=cut is not None,
                released="peer-closed" if cut is not None else None,
                fault=fault,
                prompt_tokens=prompt.whole,
                **where,
            )
        )

    def _returned(
        self, rendered: Rendered, events: Sequence[Any], where: dict[str, Any], cancelled: bool, schema: Any
    ) -> None:
        response = self._response(rendered, events, cancelled, schema)
        if self.key.mode == "stream":
            self._call_back(response, events, where)
        self.add(t.Response(response=response, **where))
        if response.parts:
            self.history.append(m.Message("model", response.parts, f"m{len(self.events)}"))
        self._shown += response.text

    def _response(self, rendered: Rendered, events: Sequence[Any], cancelled: bool, schema: Any) -> m.ProviderResponse:
        wire = DIALECT.read_response(rendered.status, rendered.headers, b"".join(event.data for event in events))
        own = {sent: name for name, sent in self.names.items()}
        parts: tuple[m.Part, ...] = tuple(
            replace(part, name=own.get(part.name, part.name)) if isinstance(part, m.FunctionCall) else part
            for part in wire.parts
            if not cancelled or isinstance(part, m.Text)
        )
        text = "".join(part.text for part in parts if isinstance(part, m.Text))
        return m.ProviderResponse(
            parts=parts,
            usage=wire.usage or m.TokenUsage(),
            finish_reason=m.FinishReason.CANCELLED if cancelled else wire.finish or m.FinishReason.UNKNOWN,
            raw_finish=wire.raw_finish,
            model=wire.model,
            structured_output=msgspec.json.decode(text) if schema is not None and text else None,
        )

    def _call_back(self, response: m.ProviderResponse, events: Sequence[Any], where: dict[str, Any]) -> None:
        calls = iter(response.calls)
        kind = ""
        for event in events:
            if event.kind == "text" and event.text:
                self.add(t.Chunk(text=event.text, **where))
            elif event.kind == "thinking":
                delta = msgspec.json.decode(event.data.split(b"data: ", 1)[1])["delta"]
                self.add(t.Thinking(text=delta.get("thinking", ""), **where))
            elif event.kind == "block_end" and kind == "args":
                call = next(calls, None)
                self.add(*([t.FunctionCallDetected(function_call=call, **where)] if call is not None else []))
            kind = event.kind if event.kind not in ("ping",) else kind
        self.add(t.UsageUpdate(usage=response.usage, **where))

    # -- the end ------------------------------------------------------------------------------------------------

    def transcript(self, **ended: Any) -> t.Transcript:
        """The run as evidence."""
        end = t.RunEnded(**{"how": "completed", **ended})
        return t.Transcript("made", DIALECT.name, MODEL, "emulate", self.key, 0, (*self.events, end))

    def view(self, **ended: Any) -> View:
        """The run as checks read it."""
        return View(self.transcript(**ended), DIALECT, self.scenario)


def spoilt(
    view: View, kind: type[E], change: Callable[[E], t.Event | None], nth: int = 0, *, every: bool = False
) -> View:
    """The same run with its `nth` event of a kind changed, or taken out where `change` gives None."""
    matching = [n for n, event in enumerate(view.transcript.events) if isinstance(event, kind)]
    assert matching, f"the run has no {kind.__name__}"
    chosen = set(matching) if every else {matching[nth]}
    events = []
    for n, event in enumerate(view.transcript.events):
        changed = change(event) if n in chosen else event  # type: ignore[arg-type]
        if changed is not None:
            events.append(changed)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def response_with(**fields: Any) -> Callable[[t.Response], t.Response]:
    """A change that returns another response."""
    return lambda event: replace(event, response=replace(event.response, **fields))


def body_with(change: Callable[[Any], Any]) -> Callable[[t.WireRequest], t.WireRequest]:
    """A change of a request's body; `change` works on a copy, in place or by returning another one."""

    def changed(event: t.WireRequest) -> t.WireRequest:
        body = msgspec.json.decode(msgspec.json.encode(event.body))
        new = change(body)
        body = body if new is None else new
        digest = hashlib.blake2b(msgspec.json.encode(body), digest_size=16).hexdigest()
        return replace(event, body=body, digest=digest)

    return changed


def changed_request(change: Callable[[Any], Any], nth: int = 0, *, every: bool = False) -> Callable[[View], View]:
    """A change of a run: the body of its `nth` request, or of every one, is another."""
    return lambda view: spoilt(view, t.WireRequest, body_with(change), nth, every=every)


def scripted(*rounds: Sequence[str | m.Part | ReplyPart], user: str = "", **fields: Any) -> Turn:
    """A scenario turn with these answers."""
    answers = tuple(ScriptRound(tuple(map(_reply_part, parts)), m.FinishReason.STOP) for parts in rounds)
    return Turn(user=(m.Text(user),) if user else (), rounds=answers, **fields)


def error(name: str, *bases: str, typed: bool = True, **fields: Any) -> t.Failed:
    """A call that raised."""
    tree = (*bases, "ProviderError", "TurnproofError", "Exception") if typed else ("Exception",)
    return t.Failed(scope="call", error=name, message=f"{name} was raised", typed=typed, bases=tree, **fields)


def _reply_part(part: str | m.Part | ReplyPart) -> ReplyPart:
    if isinstance(part, ReplyPart):
        return part
    return ReplyPart(m.Text(part) if isinstance(part, str) else part)
