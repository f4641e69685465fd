"""What each aspect reads from a run: plain values by place, ids and seals replaced by their aliases.

A reading leaves out what says nothing: the bytes of an answer that was cut wherever the network happened to stand, how
long a retry waited, the ids that a session gives to its messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...messages import JSON, FinishReason, FunctionCall, Message, Part, TokenUsage, thaw
from ...run.transcript import Chunk, Failed, FunctionCallDetected, HistorySnapshot, Refused, Thinking, UsageUpdate
from ..view import Exchange, ProviderCall, View
from .model import Aspect, Place
from .plain_forms import history_form, join_neighbours, join_parts, part_form, parts_form, request_form


@dataclass(frozen=True, slots=True)
class Reading:
    """What one aspect says at one place, with the call and exchange it was read from, where there is one."""

    value: JSON
    call: ProviderCall | None = None
    exchange: Exchange | None = None


Readings = dict[Place, Reading]
_Read = Iterator[tuple[Place, Reading]]


class Reader:
    """Reads one run. With `neutral`, only what two dialects can have in common.

    `until` is the turn that a pause ends: a path that cannot take a paused answer up again ends its turn there, so no
    call behind the pause is read, and nothing of that turn or later ones as a whole.
    """

    def __init__(self, view: View, *, neutral: bool = False, until: int | None = None) -> None:
        self._view = view
        self._neutral = neutral
        self._until = until
        self._calls = [call for call in view.comparable if until is None or call.began.turn <= until]
        self._turns = [turn for turn in view.turns if until is None or turn.index < until]

    def read(self) -> Mapping[Aspect, Readings]:
        """Everything that is compared, by aspect and place."""
        read: Mapping[Aspect, _Read] = {
            "wire": self._wire(),
            "answers": self._answers(),
            "callbacks": self._callbacks(),
            "history": self._histories(),
            "usage": self._usages(),
            "errors": self._errors(),
            "requests": self._requests(),
            "outcome": self._outcomes(),
        }
        return {aspect: dict(found) for aspect, found in read.items()}

    def _aliased(self, value: JSON, call: ProviderCall | None = None, exchange: Exchange | None = None) -> Reading:
        return Reading(self._view.aliases.within(value), call, exchange)

    def _parts(self, parts: Sequence[Part]) -> list[JSON]:
        """Parts in order; in neutral form joined, since every API has its own way to cut them."""
        form = parts_form(parts, neutral=self._neutral)
        return join_parts(form) if self._neutral else form

    def _history(self, messages: Sequence[Message]) -> list[JSON]:
        form = history_form(messages, neutral=self._neutral)
        return join_neighbours(form) if self._neutral else form

    # -- call by call

    def _wire(self) -> _Read:
        for call in self._calls:
            for number, exchange in enumerate(call.generated):
                value = {"request": self._request(call, exchange), "response": self._response(call, exchange)}
                yield call_place(call, request=number), self._aliased(value, call, exchange)
        # A session that opens its provider itself does not show which call a request belongs to.
        for turn in self._turns:
            for number, exchange in enumerate(self._of_no_call(turn.index)):
                value = {"request": self._request(None, exchange), "response": self._response(None, exchange)}
                yield Place(turn=turn.index, request=number), self._aliased(value, None, exchange)

    def _of_no_call(self, turn: int) -> list[Exchange]:
        found = (one for one in self._view.exchanges if one.request.turn == turn and one.request.call < 0)
        return [one for one in found if one.generates and not one.request.probe]

    def _request(self, call: ProviderCall | None, exchange: Exchange) -> JSON:
        request = exchange.request
        if self._neutral:
            return request_form(exchange.call, _names(call)) if exchange.call is not None else None
        return {"method": request.method, "path": request.path, "headers": request.headers, "body": request.body}

    def _response(self, call: ProviderCall | None, exchange: Exchange) -> JSON:
        response, answer = exchange.response, exchange.answer
        if response is None:
            return None
        value: dict[str, JSON] = {"ended": "completed" if exchange.clean else response.ended}
        if not self._neutral:
            value["status"] = response.status
        if answer is not None and answer.error_kind is not None and not self._neutral:
            value["error"] = {"kind": answer.error_kind, "message": answer.error_message}
        elif answer is not None and exchange.clean:
            value["parts"] = [_under_own_name(part, call) for part in self._parts(answer.parts)]
            value["finish"] = str(answer.finish)
        return value

    def _answers(self) -> _Read:
        for call in self._calls:
            answer = call.response
            if answer is None:
                continue
            value: dict[str, JSON] = {
                "parts": self._parts(answer.parts),
                "finish": str(answer.finish_reason),
            }
            if call.began.response_schema is not None or answer.structured_output is not None:
                value["structured_output"] = thaw(answer.structured_output)
            if not self._neutral:
                value["raw_finish"] = answer.raw_finish
            yield call_place(call), self._aliased(value, call)

    def _callbacks(self) -> _Read:
        for call in self._calls:
            if call.began.streamed:
                value = {
                    "order": _order(call),
                    "text": "".join(call.chunks),
                    "thinking": "".join(call.thinking),
                    "calls": [
                        part_form(function_call, neutral=self._neutral)
                        for function_call in self._in_order(call.function_calls)
                    ],
                    "late": [late.kind for late in call.late],
                }
                if not self._neutral:
                    value["pieces"] = [*call.thinking, *call.chunks]
                    value["usage"] = _usage_callbacks(call)
                yield call_place(call), self._aliased(value, call)

    def _in_order(self, calls: Sequence[FunctionCall]) -> list[FunctionCall]:
        """Calls in the order of the wire: that in which they were called back is told by itself."""
        return sorted(calls, key=lambda call: str(self._view.aliases.within(call.id)))

    def _usages(self) -> _Read:
        for call in self._calls:
            if call.response is not None:
                yield call_place(call), Reading(figures(call.response.usage), call)

    def _errors(self) -> _Read:
        for call in self._calls:
            if call.failed is not None:
                yield call_place(call), self._aliased(self._error(call.failed), call)
        for turn in self._turns:
            if turn.failed is not None:
                yield Place(turn=turn.index), self._aliased(self._error(turn.failed))
        for stray in self._view.strays:
            if self._until is None or stray.turn < self._until:
                yield Place(turn=stray.turn, after="a call of no turn"), self._aliased(self._error(stray))

    def _error(self, failed: Failed) -> JSON:
        value: dict[str, JSON] = {"error": failed.error, "typed": failed.typed, "retryable": failed.retryable}
        if self._neutral:
            return value
        words = {"message": failed.message, "status": failed.status, "retry_after": failed.retry_after}
        return {**value, **words, "limit": failed.limit, "requested": failed.requested}

    # -- turn by turn

    def _histories(self) -> _Read:
        for turn in self._turns:
            copies_by_moment: dict[str, dict[str, JSON]] = {}
            for event in turn.events:
                if isinstance(event, HistorySnapshot):
                    copies_by_moment.setdefault(event.after, {})[event.owner] = self._history(event.messages)
            for after, copies in copies_by_moment.items():
                # The one that counts is the provider's where it keeps one, and the session's everywhere.
                value = {"session": copies.get("session"), "kept": copies.get("provider", copies.get("session"))}
                yield Place(turn=turn.index, after=after), self._aliased(value)

    def _requests(self) -> _Read:
        """How often each turn asks the model or stores a prefix; of all else, that it is sent at all.

        Which turn signs in, lists models or counts tokens depends on when a provider is opened and on the clock.
        """
        turns = {turn.index for turn in self._turns}
        sent: dict[int, Counter[str]] = {}
        side_requests: dict[str, JSON] = {}
        for exchange in self._view.exchanges:
            request = exchange.request
            if request.probe or (self._neutral and not exchange.generates):
                continue
            if request.turn not in turns and request.turn >= 0:
                continue
            if request.operation in ("generate", "cache"):
                sent.setdefault(request.turn, Counter())[request.operation] += not exchange.outdated
            else:
                side_requests[request.operation] = "sent"
        if sent or side_requests:
            yield Place(turn=-1), Reading({**sent.pop(-1, {}), **side_requests})
        for turn, counts in sent.items():
            yield Place(turn=turn), Reading(dict(counts))

    def _outcomes(self) -> _Read:
        for turn in self._turns:
            refused = [[event.operation, event.error] for event in turn.events if isinstance(event, Refused)]
            if turn.ended is None and not refused:
                continue
            value: dict[str, JSON] = {
                "outcome": turn.ended.outcome if turn.ended is not None else None,
                "shown": turn.ended.shown if turn.ended is not None else "",
                "text": turn.ended.text if turn.ended is not None else "",
                "tools": [[run.name, thaw(run.args), run.outcome] for run in turn.tool_runs],
                "retries": [retry.error for retry in turn.retries],
                "refused": refused,
            }
            yield Place(turn=turn.index), self._aliased(value)


def paused_turn(view: View) -> int | None:
    """The first turn with a paused answer, or None."""
    return next((call.began.turn for call in view.calls if call.paused), None)


def figures(usage: TokenUsage) -> dict[str, int]:
    """Every figure by its name, zeros included."""
    return {name: getattr(usage, name) for name in usage.__struct_fields__}


def call_place(call: ProviderCall, request: int = 0) -> Place:
    """Where a call stands in the conversation, or one of its requests."""
    return Place(turn=call.began.turn, round=call.began.round, attempt=call.attempt, request=request)


def _names(call: ProviderCall | None) -> Mapping[str, str]:
    """Wire name -> session name of the tools in force, where that is known."""
    return call.session_names if call is not None else {}


def _under_own_name(part: JSON, call: ProviderCall | None) -> JSON:
    """A call under the session's name for its tool, whatever it was called on the wire."""
    name = part.get("name")
    return part if name is None else {**part, "name": _names(call).get(name, name)}


def _order(call: ProviderCall) -> list[str]:
    """The order of what was called back; neighbouring pieces of one kind count once."""
    kinds: list[str] = []
    for event in call.callbacks:
        match event:
            case Chunk(text=text):
                kind = "text" if text.strip() else ""
            case Thinking(text=text):
                kind = "thinking" if text else ""
            case FunctionCallDetected(function_call=function_call):
                kind = function_call.id
            case UsageUpdate():
                kind = ""
        if kind and kinds[-1:] != [kind]:
            kinds.append(kind)
    return kinds


def _usage_callbacks(call: ProviderCall) -> JSON:
    """How often usage was called back, and whether first of all, last of all, or in between.

    Of a cancelled call only whether at all: who stopped reading a moment later may have heard once more.
    """
    others = [n for n, event in enumerate(call.callbacks) if not isinstance(event, UsageUpdate)]
    first = next((n for n, event in enumerate(call.callbacks) if isinstance(event, UsageUpdate)), None)
    cancelled = call.response is not None and call.response.finish_reason is FinishReason.CANCELLED
    updates = min(1, len(call.usages)) if cancelled else len(call.usages)
    if first is None or not others:
        return {"updates": updates}
    when = "before the rest" if first < others[0] else "after the rest" if first > others[-1] else "in between"
    return {"updates": updates, "first": when}
