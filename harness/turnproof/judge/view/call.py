"""One provider call, from both of its sides: what the adapter was given and gave back, and what went over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

from ...dialects.base import Call, Evidence, WireAnswer
from ...dialects.tool_pairing import wire_names
from ...messages import JSON, FinishReason, FunctionCall, ProviderResponse, TokenUsage
from ...run.transcript import (
    CallBegan,
    Chunk,
    Failed,
    FunctionCallDetected,
    LateCallback,
    Response,
    RunKey,
    Thinking,
    UsageUpdate,
)
from ...scenarios.model import ScriptRound, Turn
from ..finding import Place, Side, pointer
from .diff import present
from .documents import event_document
from .exchange import Exchange

Callback: TypeAlias = Chunk | Thinking | FunctionCallDetected | UsageUpdate


class ProviderCall:
    """A call that the session made, or that a probe made again.

    `attempt` counts earlier calls of the same round in the same turn. `script` is the scripted answer, None where
    the scenario has none. `callbacks` are in the order in which they came.
    """

    def __init__(
        self,
        began: CallBegan,
        exchanges: Sequence[Exchange],
        callbacks: Sequence[Callback],
        late: Sequence[LateCallback],
        ended: Response | Failed | None,
        attempt: int,
        turn: Turn | None,
        key: RunKey,
    ) -> None:
        self._key = key
        self.began = began
        self.exchanges = tuple(exchanges)
        self.callbacks = tuple(callbacks)
        self.late = tuple(late)
        self.attempt = attempt
        self._ended = ended
        self._turn = turn

    @property
    def index(self) -> int:
        """Index of the call within the run."""
        return self.began.call

    @cached_property
    def where(self) -> str:
        """The place of the call, for messages."""
        again = f", attempt {self.attempt + 1}" if self.attempt else ""
        probe = f" ({self.began.probe} probe)" if self.began.probe else ""
        return f"turn {self.began.turn} round {self.began.round} (call {self.index}{again}){probe}"

    def at(self, side: Side, *tokens: str | int, **fields: Any) -> Place:
        """A place in this call. `tokens` are those of the pointer into the document of `side` (see `finding`).

        What the document leaves out because it has its default (`is_error`, `args`) is pointed to by what stands around
        it. `fields` are further ones of `Place`. For what went over the wire ask the exchange, which knows it better.
        """
        document = self._document(side)
        fields.setdefault("pointer", pointer(*(tokens if document is None else present(document, tokens))))
        return Place.of_run(
            side,
            self._key,
            turn=self.began.turn,
            round=self.began.round,
            call=self.index,
            attempt=self.attempt,
            probe=self.began.probe,
            **fields,
        )

    def _document(self, side: Side) -> JSON:
        """What the call's own places of this side point into; None for any other side."""
        match side:
            case Side.CALLBACK:
                return [event_document(event) for event in self.callbacks]
            case Side.RESPONSE | Side.ERROR:
                return None if self._ended is None else event_document(self._ended)
            case Side.HISTORY:
                return event_document(self.began)
        return None

    def at_callback(self, callback: Callback, *tokens: str | int) -> Place:
        """What one callback was handed, or a part of it."""
        number = next(n for n, one in enumerate(self.callbacks) if one is callback)
        return self.at(Side.CALLBACK, number, *tokens)

    def at_request(self) -> Place:
        """The body of the call's last request; the messages that it was given, where it sent none."""
        return self.last.at() if self.last is not None else self.at(Side.HISTORY)

    def at_answer(self) -> Place:
        """The answer to the call's last request, whole; what the call returned, where nothing was asked."""
        return self.last.at(Side.STREAM) if self.last is not None else self.at(Side.RESPONSE)

    @property
    def lost_cache(self) -> bool:
        """Whether the call came to nothing because the managed cache that it named was gone."""
        return self.came_to_nothing and self.last is not None and self.last.error_meaning == "cache-expired"

    @property
    def place(self) -> str:
        """The place in the conversation, the same on both paths: `2/1#0` is turn 2, round 1, first attempt."""
        return f"{self.began.turn}/{self.began.round}#{self.attempt}"

    @property
    def script(self) -> ScriptRound | None:
        """The answer that the scenario has for this round."""
        rounds = self._turn.rounds if self._turn is not None else ()
        return rounds[self.began.round] if self.began.round < len(rounds) else None

    @cached_property
    def response(self) -> ProviderResponse | None:
        """What the call returned; None when it raised, or never ended."""
        return self._ended.response if isinstance(self._ended, Response) else None

    @property
    def failed(self) -> Failed | None:
        """How the call failed, or None."""
        return self._ended if isinstance(self._ended, Failed) else None

    @property
    def knows_messages(self) -> bool:
        """Whether `began.messages` are what the session held; if not, they are what the request says."""
        return True

    @property
    def knows_callbacks(self) -> bool:
        """Whether `callbacks` are all that there were, as they came, and none of them raised."""
        return not self.callback_raised

    @property
    def callback_raised(self) -> bool:
        """Whether a callback of the session raised and the call returned all the same: it need call none after that."""
        return isinstance(self._ended, Response) and self._ended.callback_raised

    @property
    def came_to_nothing(self) -> bool:
        """Whether the session was given no answer, and had to ask again or to give up."""
        return self.failed is not None

    @property
    def mutated(self) -> tuple[str, ...]:
        """The arguments that the call changed."""
        return self._ended.mutated if self._ended is not None else ()

    @cached_property
    def chunks(self) -> tuple[str, ...]:
        """The pieces that `on_chunk` got."""
        return tuple(event.text for event in self.callbacks if isinstance(event, Chunk))

    @property
    def thinking(self) -> tuple[str, ...]:
        """The pieces that `on_thinking` got."""
        return tuple(event.text for event in self.callbacks if isinstance(event, Thinking))

    @cached_property
    def function_calls(self) -> tuple[FunctionCall, ...]:
        """The calls that `on_function_call` got."""
        return tuple(event.function_call for event in self.callbacks if isinstance(event, FunctionCallDetected))

    @property
    def usages(self) -> tuple[TokenUsage, ...]:
        """The figures that `on_usage_update` got."""
        return tuple(event.usage for event in self.callbacks if isinstance(event, UsageUpdate))

    @cached_property
    def generated(self) -> tuple[Exchange, ...]:
        """The exchanges that asked for an answer of the model, but for those that were asked again with a new token."""
        found = tuple(exchange for exchange in self.exchanges if exchange.generates)
        return tuple(exchange for exchange in found if not exchange.outdated or exchange is found[-1])

    @cached_property
    def last(self) -> Exchange | None:
        """The exchange whose answer the call ended with."""
        return self.generated[-1] if self.generated else None

    @cached_property
    def sent(self) -> Call | None:
        """The conversation as it stood on the wire, in neutral form; None when nothing readable was sent."""
        return self.last.call if self.last is not None else None

    @property
    def body(self) -> JSON:
        """The body of the last request."""
        return self.last.body if self.last is not None else None

    @cached_property
    def clean(self) -> bool:
        """Whether the model's answer reached the adapter whole and undisturbed."""
        return self.last is not None and self.last.clean

    @cached_property
    def answer(self) -> WireAnswer | None:
        """The whole answer that the wire carried; None where it was cut, disturbed, held or refused."""
        return self.last.answer if self.last is not None and self.last.clean else None

    @property
    def paused(self) -> bool:
        """Whether the service stopped in the middle of its own work, to be asked to go on."""
        return self.answer is not None and self.answer.finish is FinishReason.PAUSED

    @property
    def accepted(self) -> bool:
        """Whether the server had nothing to say against the request (it may still have been made to fail)."""
        return self.last is not None and self.last.call is not None and not self.last.refusals

    @property
    def fault(self) -> str | None:
        """The fault on the way of the last answer, if it was a harmful one."""
        return self.last.fault if self.last is not None else None

    @cached_property
    def wire_names(self) -> dict[str, str]:
        """Session name -> wire name of the tools in force."""
        return wire_names(self.began.tools, self.sent.tools) if self.sent is not None else {}

    @cached_property
    def session_names(self) -> dict[str, str]:
        """Wire name -> session name of the tools in force."""
        return {wire: own for own, wire in self.wire_names.items()}

    @property
    def rests_on(self) -> Evidence | None:
        """The weakest evidence among the enforced rules that the request offends."""
        marks = [Evidence(refusal["evidence"]) for exchange in self.exchanges for refusal in exchange.refusals]
        order = list(Evidence)
        return max(marks, key=order.index) if marks else None
