"""Where answers come from here: the armed scenario turn, or a cassette. Of the real API see `live_responder`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from ...dialects.base import Call, PromptUsage, Refusal, Rendered, Reply, ReplyPart, Rule, WireEvent
from ...dialects.contract import Dialect
from ...messages import FinishReason, Message, Text
from ...scenarios.model import asked_form
from ..cassettes.match import digest
from ..cassettes.scrub import UNRECORDED
from .server_run import Exchange, Responder, ServerRun
from .service_failures import answer_in_words, service_failure

if TYPE_CHECKING:
    from ...scenarios.model import Origin, Probe, RecordedAnswer, Turn
    from ..cassettes.replay import Player

__all__ = [
    "CIRCLE",
    "ROUND_LIMIT",
    "CassetteResponder",
    "Responder",
    "ScriptResponder",
    "account",
    "due",
    "rounds_since_user",
]


CASSETTE_MISMATCH = "cassette-mismatch"
"""The `fault` of an exchange that the cassette had no answer for."""

MISMATCH_STATUS = 418
"""A status that no provider uses: an adapter cannot take such a notice for an answer of the API."""

CIRCLE = "circle"
"""The `fault` of an exchange that asked for the same round of a turn once too often."""

ROUND_LIMIT = 30
"""How often a round of a turn is answered in a run that is judged. The certifications of the reference adapters ask at
most six times, with every retry. Who asks more often leaves out of the request what the model has said in this turn, so
that the script cannot go on: without an end it would be asked until the run is stopped as hung."""


_RECORDED_FAILURE: Final = Rule("emulator/recorded-failure", note="a failure that was recorded at another API")


def rounds_since_user(call: Call, turn: Turn | None = None) -> int:
    """Rounds since the user spoke: which scripted reply is due.

    A round is a message of results, an answer of the model that was paused and is sent back to be gone on with, or
    what the user says in between; results and what is said right behind them are one.
    Where the armed turn is known, the user's words are looked for: an adapter may put text of its own beside results.
    Where a request has calls and results as texts, a round is an answer with something said behind it.
    """
    text = turn.text if turn is not None else ""
    known = any(message.role == "user" and text in message.text for message in call.messages)
    rounds = 1 if call.messages and call.messages[-1].role == "model" else 0
    answers = 0
    interjected = turn.interject.text if turn is not None and turn.interject is not None else None
    for older, message in _newest_first(call):
        if message.role == "user" and (not known or text in message.text):
            break
        rounds += message.role == "tool"
        answers += message.role == "model" and not message.calls
        if interjected is not None and message.role == "user" and interjected in message.text:
            rounds += older is None or older.role != "tool"
    return rounds or answers


def due(call: Call, turn: Turn | None) -> Turn | None:
    """The turn that a request belongs to: the armed one, or that of the child in it, or beside it, which is told
    something else."""
    if turn is None:
        return None
    others = tuple(one for one in (turn.child, turn.beside, *turn.children) if one is not None)
    for _, message in _newest_first(call) if others else ():
        # An agent may join what was said at once; the later words are the ones that it is to answer.
        places = [(message.text.rfind(one.text), one) for one in (turn, *others)] if message.role == "user" else []
        if found := [each for each in places if each[0] >= 0]:
            return max(found, key=lambda each: each[0])[1]
    return turn


def _newest_first(call: Call) -> Iterator[tuple[Message | None, Message]]:
    """Each message with the one before it."""
    for index in range(len(call.messages) - 1, -1, -1):
        yield call.messages[index - 1] if index else None, call.messages[index]


def account(run: ServerRun, call: Call) -> tuple[PromptUsage, Callable[[], None]]:
    """What the prompt of a call counts, and what makes the cache remember it."""
    if call.model is None or call.body is None:  # a list of models, or one of them, has no prompt
        return PromptUsage(0), lambda: None
    facts = run.world.models[call.model]
    return run.cache.account(call, facts, run.world.clock())


class ScriptResponder:
    """Answers the armed turn. An identical request gets the identical reply: it is a retry, or a probe. A retry gets
    another one where the script has it.

    `round_limit` is how often a round of a turn is answered, outside of probes; 0 is without a limit. Behind that the
    answer is a notice with `MISMATCH_STATUS`, and the exchange has the fault `CIRCLE`. Recorded answers of the script
    are sent as they are where the run is with the API of `origin`.
    """

    def __init__(self, round_limit: int = 0, origin: Origin | None = None) -> None:
        self._origin = origin
        self._known: dict[str, tuple[Reply, str]] = {}
        self._recorded: dict[str, RecordedAnswer] = {}
        self._round_limit = round_limit
        self._request_counts: Counter[tuple[int, int]] = Counter()
        self._answered: Counter[str] = Counter()

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        usage, commit = account(run, call)
        exchange.prompt_tokens = usage.whole
        if call.operation != "generate":
            exchange.extra = True
            return run.dialect.render_extra(call, usage, run.world, run.seed)
        if self._goes_in_circles(run, exchange):
            exchange.fault, exchange.extra = CIRCLE, True
            return _notice(
                CIRCLE,
                f"turnproof ends this turn: its round {exchange.round} was asked for {self._round_limit} times. A "
                "request has to hold what the model has said and its tools have answered since the user's message.",
            )
        reply, seed = self._reply(run, exchange, call)
        rendered = self._recorded_answer(run, exchange, call) or self._recorded_failure(run, exchange, call)
        if rendered is None:
            rendered = run.dialect.render(call, reply, usage, run.world, seed)
        commit()
        return rendered

    def _is_for(self, recorded: RecordedAnswer, dialect: Dialect, exchange: Exchange, call: Call) -> bool:
        """Whether a request asks the same API for the form of answer that was recorded."""
        if self._origin is None or not self._origin.is_of(dialect.name):
            return False
        if recorded.stream != call.stream:
            return False
        return recorded.asked == asked_form(exchange.request.path, exchange.request.query)

    def _recorded_answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered | None:
        """What a real service answered here, where the script has it for a request of this kind."""
        if exchange.extra or not self._recorded or (known_as := digest(run.dialect, call)) not in self._recorded:
            return None
        answer = self._recorded[known_as]
        exchange.origin = "recorded"
        if answer.status >= 400:
            exchange.fault = f"status-{answer.status}"
        body = answer.body.encode()
        run.dialect.observe(call, answer.status, answer.headers, body, run.world)
        return Rendered(answer.status, answer.headers, run.dialect.split_stream(answer.headers, body))

    def _recorded_failure(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered | None:
        """The failure that was recorded here, in the words of another API than the one that it comes from."""
        turn = due(call, run.turn) if self._origin is not None else None
        if turn is None or exchange.round >= len(turn.rounds):
            return None
        recorded = turn.rounds[exchange.round].recorded
        if recorded is None or recorded.status < 400:
            return None
        exchange.fault = f"status-{recorded.status}"
        refusal = Refusal(_RECORDED_FAILURE, recorded.status, *run.dialect.error_kind(recorded.status))
        return run.dialect.render_refusal(refusal, run.seed)

    def _goes_in_circles(self, run: ServerRun, exchange: Exchange) -> bool:
        if not self._round_limit or run.probe:
            return False
        self._request_counts[run.turn_index, exchange.round] += 1
        return self._request_counts[run.turn_index, exchange.round] > self._round_limit

    def _reply(self, run: ServerRun, exchange: Exchange, call: Call) -> tuple[Reply, str]:
        known_as = digest(run.dialect, call)
        if run.probe and known_as in self._known:
            return self._known[known_as]
        turn = due(call, run.turn)
        if turn is None or exchange.round >= len(turn.rounds):
            exchange.extra = True
            text = "(no reply is scripted for this request)"
            return Reply((ReplyPart(Text(text)),), FinishReason.STOP), f"{run.seed}/{known_as}"
        whose = "" if turn is run.turn else f"child/{exchange.child}/" if exchange.child else "child/"
        # What only a probe sends is asked beside the conversation, and its answer has an id of its own.
        place = f"probe/{known_as}" if run.probe else f"{run.turn_index}/{whose}{exchange.round}"
        seed = f"{run.seed}/{place}"
        scripted = turn.rounds[exchange.round].answer_after(self._answered[seed])
        self._answered[seed] += 1
        written_reply = Reply(scripted.parts, scripted.finish, scripted.raw_finish, scripted.usage)
        reply = run.dialect.speak(written_reply, run.tools, call)
        recorded = scripted.recorded
        if recorded is not None and reply == written_reply and self._is_for(recorded, run.dialect, exchange, call):
            # Tools that are declared under other names cannot be called by the recorded ones.
            self._recorded[known_as] = recorded
        self._known[known_as] = reply, seed
        return reply, seed


DIRECT: Final[tuple[Probe, ...]] = (
    "broken",
    "helpers",
    "other-model",
    "other-key",
    "deletion",
    "background",
    "broken-stream",
)
"""Probes that send what no conversation does: no recording has it."""


class CassetteResponder:
    """Answers from recorded exchanges, matched by digest; a miss is shown, and never taken for an answer.

    What a probe of `DIRECT` sends is answered by the script where it was not recorded.

    The answers of a recording that was made live are the service's, which may have only imitated the API. A request
    that such a recording has no answer to is one that the service did not answer: a model says another thing each
    time, so the request shows nothing of the adapter.
    """

    def __init__(self, player: Player, *, imitates: bool = False) -> None:
        self.player = player
        self._imitates = imitates
        self.is_of_service = player.cassette.recorded == "live"
        self.mismatches: list[str] = []
        self._script = ScriptResponder()

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        exchange.extra = call.operation != "generate"
        if call.operation in UNRECORDED:
            return run.dialect.render_extra(call, PromptUsage(0), run.world, run.seed)
        exchange.prompt_tokens = run.dialect.count(call)
        found = self.player.answer(call, -1 if run.probe else run.turn_index, exchange.round)
        if isinstance(found, Rendered):
            run.dialect.observe(call, found.status, found.headers, found.body, run.world)
            if self.is_of_service:
                self._judge_service(run, exchange, call, found)
            return found
        if run.probe in DIRECT:
            return await self._script.answer(run, exchange, call)
        self.mismatches.append(str(found))
        if self.is_of_service:
            run.service_fault = run.service_fault or f"the recording has no answer of the service here: {found}"
        exchange.fault = CASSETTE_MISMATCH
        return _notice("cassette_mismatch", str(found))

    def _judge_service(self, run: ServerRun, exchange: Exchange, call: Call, answer: Rendered) -> None:
        exchange.origin = "service"
        read = run.dialect.read_response(answer.status, answer.headers, answer.body)
        if exchange.extra:
            return
        if answer.status == 200 and not read.complete:
            # Where the turn has nothing that cuts an answer, the client had left a service that was too slow.
            turn = run.turn
            if turn is not None and exchange.child is None and not (turn.faults or turn.cut or turn.beside):
                run.service_fault = run.service_fault or "the recorded answer has no end: its client had left"
            return
        words = answer_in_words(answer.status, read)
        failure = service_failure(run.dialect, call, answer, read, words, imitates=self._imitates)
        run.service_fault = run.service_fault or failure


def _notice(kind: str, message: str) -> Rendered:
    """What turnproof itself has to say, in an answer that no API gives."""
    body = msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})
    return Rendered(MISMATCH_STATUS, {"content-type": "application/json"}, (WireEvent(body, "body"),))
