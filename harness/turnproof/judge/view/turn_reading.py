"""The provider calls of one turn, read from what its session sent and from what it holds after the turn.

Nobody says which message was made of which answer. It follows from how many messages of the model the session holds,
and from which answers were whole, cut or broken. Where it does not, a call is its request and its answer on the wire.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, TypeAlias

import msgspec

from ... import messages as m
from ...run.transcript import (
    CallBegan,
    Cancelled,
    Chunk,
    Event,
    Failed,
    HistorySnapshot,
    LateCallback,
    Response,
    Retried,
    TakenBack,
    ToolRun,
    TurnBegan,
    UsageReport,
)
from .call import Callback
from .exchange import Exchange
from .shown_callbacks import events_of, failure_of, shown_callbacks
from .turn import TurnView

Known: TypeAlias = Literal["history", "usage", "answer"]
"""What has to be known of a response: the message that the session holds for it, its usage too, or all of it."""


@dataclass(frozen=True, slots=True)
class CallParts:
    """What a derived call is made of. `held_at` is where the session holds what it made of the answer."""

    began: CallBegan
    exchange: Exchange
    exchanges: tuple[Exchange, ...]
    ended: Response | Failed | None
    attempt: int
    callbacks: Sequence[Callback]
    late: Sequence[LateCallback]
    held_at: int | None
    knows_messages: bool
    knows_callbacks: bool
    retried: Retried | None


def held_before(events: Sequence[Event], turn: TurnView) -> tuple[m.Message, ...]:
    """What the session held when the user spoke, after whatever was done ahead of it."""
    messages: tuple[m.Message, ...] = ()
    for event in events:
        if isinstance(event, TurnBegan) and event.turn == turn.index:
            break
        if isinstance(event, HistorySnapshot) and event.owner == "session":
            messages = event.messages
    return messages


class TurnReading:
    """One turn: which message that is held after it came of which of its answers."""

    def __init__(
        self,
        turn: TurnView,
        before: tuple[m.Message, ...],
        exchanges: Sequence[Exchange],
        repeated: Collection[int],
        in_force: tuple[str | None, tuple[m.ToolSchema, ...]],
        streamed: bool,
    ) -> None:
        self._turn = turn
        self._before = before
        generating = [one for one in exchanges if one.generates]
        # One that was asked again with a new token is no answer's.
        asked_again = (one for one in generating if one.outdated or one.number in repeated)
        others = {one.number for one in asked_again if one is not generating[-1]}
        self._exchanges = [one for one in generating if one.number not in others]
        self._events = events_of(turn.events, self._exchanges)
        self._groups = _grouped(exchanges, self._exchanges)
        self._system, self._tools = in_force
        self._streamed = streamed
        self._outcome = turn.ended.outcome if turn.ended is not None else "error"
        self._tells_messages = True

    def calls(self, number: int, known_of_responses: Known) -> Iterator[CallParts]:
        """The calls, counted from `number`. Where it cannot be told which message came of which answer, they have
        requests alone."""
        exchanges = self._exchanges
        held_messages, start = self._conversation() or ((), 0)
        models = [n for n in range(start, len(held_messages)) if held_messages[n].role == "model"]
        taken_answers = self._answers(len(models)) if held_messages and exchanges else None
        known_from = self._known_from(exchanges, held_messages) if taken_answers is not None else len(exchanges)
        self._tells_messages = taken_answers is not None
        if taken_answers is None:
            models, taken_answers = [], frozenset()
        is_taken_back = self._outcome == "error" and not models
        answers_held = {n: held_messages[place] for n, place in zip(sorted(taken_answers), models, strict=False)}
        shown = self._shown(exchanges, answers_held)
        callbacks = shown_callbacks(self._events, exchanges, answers_held)
        models_seen = 0
        attempts: dict[int, int] = defaultdict(int)
        for n, exchange in enumerate(exchanges):
            place = models[models_seen] if models_seen < len(models) else None
            message = held_messages[place] if place is not None else None
            known = n >= known_from
            messages = held_messages[:place] if known else _sent(exchange)
            if is_taken_back and known:
                # What the turn had brought is no longer held: the answers, and the results that were sent for them.
                messages = (
                    *held_messages,
                    *self._forgotten_messages([exchanges[one] for one in sorted(taken_answers) if one < n], exchange),
                )
            rounds = _rounds(messages)
            began = CallBegan(
                messages=messages,
                system=self._system,
                tools=self._tools,
                round=rounds,
                streamed=self._streamed,
                response_schema=self._turn.script.response_schema if self._turn.script is not None else None,
                turn=self._turn.index,
                call=number + n,
            )
            ended = self._ended(n, message, n in taken_answers, known_of_responses)
            held_at = place if isinstance(ended, Response) else None
            retried = failure_of(self._events[n])
            is_last = exchange is exchanges[-1]
            own_callbacks = callbacks[n] if callbacks is not None and _text_of(callbacks[n]) == shown[n] else None
            yield CallParts(
                began,
                exchange,
                self._groups[n],
                ended,
                attempts[rounds],
                own_callbacks if own_callbacks is not None else _in_one_piece(shown[n], self._turn.index),
                [event for event in self._turn.events if isinstance(event, LateCallback)] if is_last else (),
                held_at,
                known,
                own_callbacks is not None,
                retried if retried is not None and ended is retried.failure else None,
            )
            attempts[rounds] += 1
            models_seen += n in taken_answers

    def _forgotten_messages(self, answers: Sequence[Exchange], next_request: Exchange) -> Iterator[m.Message]:
        """The messages that earlier answers of a turn became, as they stood on the wire when it was asked again.

        A result that the request lacks is there all the same: what was called had one.
        """
        results = {result.call_id: result for message in _sent(next_request) for result in message.results}
        for exchange in answers:
            parts = exchange.answer.parts if exchange.answer is not None else ()
            calls = [part for part in parts if isinstance(part, m.FunctionCall)]
            yield m.Message.model(*parts)
            if calls:
                yield m.Message.tool(*(results.get(call.id) or self._result_of(call) for call in calls))

    def _result_of(self, call: m.FunctionCall) -> m.ToolResult:
        """The result of a call that was not sent: an error where each run of its tool in the turn ended in one."""
        runs = [event for event in self._turn.events if isinstance(event, ToolRun) and event.name == call.name]
        failed = bool(runs) and all(event.outcome in ("error", "unknown") for event in runs)
        return m.ToolResult(call.id, call.name, None, is_error=failed)

    def _answers(self, models: int) -> frozenset[int] | None:
        """The numbers of the exchanges that brought the messages of the model which are held; None where they cannot be
        told. An answer whose calls are broken may have been taken or refused."""
        clean = {n for n, one in enumerate(self._exchanges) if one.clean}
        whole = {n for n in clean if not _is_broken(self._exchanges[n])}
        if self._outcome == "error" and not models:
            return frozenset(whole)
        # An answer that was cut for the user's sake, or that the session took as it came, may be held in part.
        cut = {n for n, one in enumerate(self._exchanges) if one.held}
        last = {len(self._exchanges) - 1} if self._outcome != "error" else set()
        options = (clean | cut, clean, whole | cut, whole, clean | last, clean | cut | last, whole | last)
        return next((frozenset(found) for found in options if len(found) == models), None)

    def _known_from(self, exchanges: Sequence[Exchange], messages: Sequence[m.Message]) -> int:
        """The number of the first request that was made of the messages which are held after the turn.

        A session may make its history shorter while a turn runs, and what it held before is then gone: all of it, where
        the messages from before the turn are not held any longer; up to a refusal, where the prompt was too long.
        """
        if not _says_the_same(self._before, messages[: len(self._before)]):
            return len(exchanges)
        refused = (n for n, one in enumerate(exchanges, 1) if one.error_meaning == "context-limit")
        return max(refused, default=0)

    def _conversation(self) -> tuple[tuple[m.Message, ...], int] | None:
        """What was said by the end of the turn, and where in it the turn begins; None where that cannot be told."""
        after, before = self._turn.history, self._before
        script = self._turn.script
        if after is None or script is None:
            return None
        new = m.Message.user(*script.user)
        if len(after) > len(before) and _says_the_same(before, after[: len(before)]):
            return after, len(before)
        if _says_the_same(before, after):
            return ((*before, new), len(before)) if self._outcome != "answer" else None
        users = [n for n, message in enumerate(after) if message.role == "user" and message.text == new.text]
        return (after, users[-1]) if users else None

    def _ended(self, number: int, message: m.Message | None, is_taken: bool, known: Known) -> Response | Failed | None:
        """How the call for the exchange of this number ended, as far as it shows."""
        exchange = self._exchanges[number]
        last = exchange is self._exchanges[-1]
        if last and self._turn.failed is not None and self._outcome == "error":
            # An answer in other words than what was shown of a broken one may have been given up by the session itself.
            return None if self._begins_otherwise(exchange) else self._turn.failed
        retried = failure_of(self._events[number])
        if retried is not None and not is_taken:
            return retried.failure
        answer = self._turn.ended.answer if self._turn.ended is not None else None
        if known == "answer":
            return Response(response=answer, turn=self._turn.index) if last and answer is not None else None
        if answer is not None and last and not self._tells_messages:
            return Response(response=answer, turn=self._turn.index)
        if self._turn.history is None or (is_taken and message is None):
            return None
        if not is_taken and (not last or exchange.clean or self._outcome == "error"):
            return None
        if not is_taken and self._outcome == "cancelled" and not exchange.held:
            return None  # the turn was cancelled while the session waited to ask again
        figures = self._figures() if last and is_taken and _has_figures(exchange) else None
        if known == "usage" and figures is None:
            return None
        finish = (
            m.FinishReason.CANCELLED
            if (exchange.held or self._is_asked_too_late(exchange)) and (not last or self._outcome == "cancelled")
            else m.FinishReason.UNKNOWN
        )
        parts = message.parts if message is not None else ()
        return Response(response=m.ProviderResponse(parts, figures or m.TokenUsage(), finish), turn=self._turn.index)

    def _is_asked_too_late(self, exchange: Exchange) -> bool:
        """Whether the turn was cancelled before this request was sent: its answer is nobody's, however whole it is."""
        before = takewhile(lambda event: event is not exchange.request, self._turn.events)
        return any(isinstance(event, Cancelled) for event in before)

    def _begins_otherwise(self, last: Exchange) -> bool:
        """Whether the last answer is whole, and says something else than the broken one that it was asked for again."""
        before = self._exchanges[-2] if len(self._exchanges) > 1 else None
        return last.clean and before is not None and not before.clean and not last.text.startswith(before.text)

    def _figures(self) -> m.TokenUsage | None:
        reports = [event for event in self._turn.events if isinstance(event, UsageReport)]
        return reports[-1].usage if reports else None

    def _shown(self, exchanges: Sequence[Exchange], messages: Mapping[int, m.Message]) -> list[str]:
        """What the user was shown of each answer: the turn's text, cut where one answer's ends.

        `messages` are those that the answers became. An attempt that goes well says again what an earlier one had shown
        of the same answer, and one whose text was taken back had shown that. Where an end cannot be found, nothing is
        known from there on.
        """
        left = self._turn.ended.shown if self._turn.ended is not None else ""
        taken_back = [event.text for event in self._turn.events if isinstance(event, TakenBack)]
        pieces: list[str] = []
        before = ""
        for n, exchange in enumerate(exchanges):
            if n not in messages and taken_back and exchange.text.startswith(taken_back[0]):
                pieces.append(taken_back.pop(0))
                before = ""
                continue
            ends = [exchange.text] if n not in messages else [exchange.text, messages[n].text]
            rests = [text.removeprefix(before) for text in ends]
            piece = left if n == len(exchanges) - 1 else next((one for one in rests if left.startswith(one)), None)
            if piece is None or (before and before + piece not in ends):
                return [*pieces, *[""] * (len(exchanges) - n)]
            left = left.removeprefix(piece)
            pieces.append(before + piece)
            before = "" if n in messages else pieces[-1]
        return pieces


def _text_of(callbacks: Sequence[Callback]) -> str:
    return "".join(event.text for event in callbacks if isinstance(event, Chunk))


def _in_one_piece(text: str, turn: int) -> list[Callback]:
    return [Chunk(text=text, turn=turn)] if text else []


def repeated_unawares(events: Sequence[Event], exchanges: Sequence[Exchange]) -> frozenset[int]:
    """The numbers of the exchanges whose request came again, the same, without a word of the session about it."""
    generating = [one for one in exchanges if one.generates]
    between = events_of(events, generating)
    return frozenset(
        one.number
        for one, other, after in zip(generating, generating[1:], between, strict=False)
        if one.request.digest == other.request.digest and not any(isinstance(event, Retried) for event in after)
    )


def _grouped(sent: Sequence[Exchange], requests: Sequence[Exchange]) -> list[tuple[Exchange, ...]]:
    """For each request for an answer, what was sent since the one before; for the last one the rest as well."""
    ends = [sent.index(one) + 1 for one in requests]
    return [tuple(sent[first:end]) for first, end in zip([0, *ends], [*ends[:-1], len(sent)], strict=False)]


def _has_figures(exchange: Exchange) -> bool:
    """Whether an answer says how many tokens it took: a session keeps the last figures that it heard."""
    usage = exchange.answer.usage if exchange.answer is not None else None
    return usage is not None and usage != m.TokenUsage()


def _says_the_same(some: Sequence[m.Message], others: Sequence[m.Message]) -> bool:
    """Whether messages say the same, whatever their ids are and wherever a session has put its cache marks."""
    if len(some) != len(others):
        return False
    return all(m.same(_unmarked(one), _unmarked(other), ids=False) for one, other in zip(some, others, strict=True))


def _unmarked(message: m.Message) -> m.Message:
    return m.Message(message.role, tuple(map(_unmarked_part, message.parts)), message.message_id)


def _unmarked_part(part: m.Part) -> m.Part:
    match part:
        case m.Text() | m.ToolResult() | m.InlineData() | m.FileRef() | m.FunctionCall():
            return msgspec.structs.replace(part, cache=None)
    return part


def _is_broken(exchange: Exchange) -> bool:
    """Whether an answer has calls that nobody can run."""
    return exchange.answer is not None and bool(exchange.answer.broken_calls)


def _sent(exchange: Exchange) -> tuple[m.Message, ...]:
    """What a request says, in neutral form; nothing where it cannot be read."""
    return exchange.call.messages if exchange.call is not None else ()


def _rounds(messages: Sequence[m.Message]) -> int:
    """The rounds of results since the user spoke last."""
    rounds = 0
    for message in reversed(messages):
        if message.role == "user":
            break
        rounds += message.role == "tool"
    return rounds
