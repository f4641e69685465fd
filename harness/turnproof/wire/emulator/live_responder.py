"""Answers from the real service: each request is sent on, and the answer passed back as it comes.

What the service did wrong (it broke off, is overloaded, sent garbage, does not know our key) is noted as its own fault
and ends what the run can show; it is never the adapter's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..._base.secrets import mask
from ...dialects.base import Call, Refusal, Rendered, Rule
from ...dialects.contract import Dialect
from ...errors import ServiceError
from .incoming import Incoming, KeptAnswer, ServiceAnswer
from .live_answers import LiveAnswers
from .provocation import with_wanted_answer
from .server_run import Exchange, ServerRun
from .service_failures import answer_in_words, service_failure

if TYPE_CHECKING:
    from ..cassettes.recording_proxy import ProxyTarget

_FOREIGN_KEY = Rule("emulator/foreign-key", note="only the key of the run is replaced by the real one")
_KEY_REFUSED = frozenset({401, 403})
_NO_MONEY = frozenset({402})
_QUOTA = ("insufficient_quota", "credit balance", "exceeded your current quota", "billing")


class LiveService:
    """The real service behind one adapter: how to reach it, and why it is not asked any more, if so.

    `target` makes a way to it. It `imitates` the API where it is not at the vendor's own address: then it may lack a
    part of the API, and says so, which is no mistake of the request.

    Belongs to the server's event loop once runs have begun; `closed` may be read anywhere.
    """

    def __init__(self, target: Callable[[], ProxyTarget], model: str = "", *, imitates: bool = False) -> None:
        self.target = target
        self.model = model
        self.imitates = imitates
        self.answered = 0
        """Requests that it has answered with status 200."""
        self.closed = ""

    def look_at(self, dialect: Dialect, call: Call, answer: Rendered) -> str:
        """What is wrong with the service by this answer to a request that had a key; empty where nothing is."""
        read = dialect.read_response(answer.status, answer.headers, answer.body)
        refusal_text = answer_in_words(answer.status, read)
        refusal_text = mask(refusal_text, self.target().secrets)  # a service may repeat the key that it does not accept
        if answer.status in _KEY_REFUSED:
            return self._close(f"the service does not accept the key ({refusal_text})")
        if answer.status in _NO_MONEY or (answer.status == 429 and any(word in refusal_text for word in _QUOTA)):
            return self._close(f"the quota is used up ({refusal_text})")
        if answer.status == 404 and not self.answered:
            return self._close(f"the service has no model {self.model!r}, or another address ({refusal_text})")
        if answer.status == 200:
            self.answered += 1
        return service_failure(dialect, call, answer, read, refusal_text, imitates=self.imitates)

    def _close(self, reason: str) -> str:
        self.closed = self.closed or reason
        return reason


class LiveResponder:
    """The responder of one run. `earlier` are the answers of the run that this one is compared with, if any."""

    def __init__(self, service: LiveService, answers: LiveAnswers, earlier: LiveAnswers | None = None) -> None:
        self._service = service
        self._answers = answers
        self._earlier = earlier
        self._attempts: Counter[tuple[int, int]] = Counter()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key of the real service."""
        return self._service.target().secrets

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered | Incoming:
        if not self._service.target().is_opened_by(exchange.request, run.world.keys):
            return run.dialect.render_refusal(Refusal(_FOREIGN_KEY, 401, *run.dialect.error_kind(401)), run.seed)
        if call.operation == "connect":
            raise ServiceError(
                "WebSockets are not passed on to the real service: certify this adapter with --backend emulate"
            )
        exchange.extra = call.operation != "generate"
        exchange.prompt_tokens = run.dialect.count(call)
        known = None if exchange.extra else self._known(run, exchange, call)
        if known is not None:
            exchange.origin = "kept"
            return KeptAnswer(known)
        if self._service.closed:
            raise ServiceError(self._service.closed)
        exchange.origin = "service"

        def done(answer: Rendered, ended: bool) -> None:
            self._note(run, exchange, call, answer, ended)

        request = exchange.request
        if not exchange.extra:
            request = with_wanted_answer(run, exchange, call, imitated=self._service.imitates)
        return ServiceAnswer(self._service.target, request, run.dialect, done)

    def _known(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered | None:
        if run.probe:
            own = self._answers.last(run.dialect, call)
            return own if own is not None or self._earlier is None else self._earlier.last(run.dialect, call)
        place = (exchange.turn, exchange.round)
        attempt = self._attempts[place]
        self._attempts[place] += 1
        known = self._earlier.find(run.dialect, call, place, attempt) if self._earlier is not None else None
        if known is None:
            return self._answers.find(run.dialect, call, place, attempt)
        self._answers.add(run.dialect, call, place, known)
        return known

    def _note(self, run: ServerRun, exchange: Exchange, call: Call, answer: Rendered, ended: bool) -> None:
        """Judge the service by what came, and remember what may be given again."""
        run.dialect.observe(call, answer.status, answer.headers, answer.body, run.world)
        if exchange.extra:
            return
        fault = self._service.look_at(run.dialect, call, answer) if ended else ""
        if fault:
            run.service_fault = run.service_fault or fault
        elif not run.probe or ended:
            self._answers.add(run.dialect, call, (exchange.turn, exchange.round), answer)
