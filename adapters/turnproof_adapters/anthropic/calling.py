"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

import json
from functools import partial

import anthropic
import httpx2

from turnproof.messages import ProviderResponse

from .. import _calling
from .._answers import Listeners, stands_alone
from .._calling import ConversationCaller
from .._decoding import convert_to
from .._http import HTTP_FAILURES
from . import errors
from .assemble import Assembler, read_answer
from .parts import Restore
from .service import Service
from .wire import Answer, Event, decode_answer, decode_event

_FAILURES: tuple[type[Exception], ...] = (anthropic.AnthropicError, *HTTP_FAILURES)


class Caller(ConversationCaller[Answer, Event, Restore]):
    """Makes calls to one service. `secret` is the key, which no error may show."""

    def __init__(self, service: Service, secret: str) -> None:
        typed = partial(errors.from_exception, service=service, secret=secret)
        super().__init__(_calling.Caller(_FAILURES, typed, stands_alone))
        self._failed = partial(errors.from_answer, service=service, secret=secret)
        self._service = service

    def _read(self, restore: Restore, answer: Answer, listeners: Listeners) -> ProviderResponse:
        return read_answer(self._service, restore, answer, listeners)

    def _assembler(self, restore: Restore, listeners: Listeners) -> Assembler:
        return Assembler(self._service, restore, listeners, self._failed)

    def read_body(self, body: bytes) -> Answer:
        """A whole answer from its bytes. Raises ProviderError for a failure told under a good status, and ValueError or
        RecursionError for what is neither."""
        try:
            return decode_answer(body)
        except ValueError:
            self._refuse(_plain(body))
            raise

    def read_fields(self, fields: dict[str, object]) -> Answer:
        """The same for an answer that the SDK has read."""
        try:
            return convert_to(fields, Answer)
        except ValueError:
            self._refuse(fields)
            raise

    def read_event(self, data: bytes) -> Event:
        """An event of a stream; one that tells of a failure is of type `error`, however the service words it. Raises
        ValueError or RecursionError for what is none."""
        try:
            event = decode_event(data)
        except ValueError:
            if (failure := self._service.refusals.complaint(_plain(data))) is None:
                raise
            return Event("error", error=failure)
        if event.type in ("", "error"):
            failure = self._service.refusals.complaint(_plain(data))
            return event if failure is None else Event("error", error=failure)
        return event

    def refuse_unstreamed(self, response: httpx2.Response) -> None:
        """Raise ProviderError for a failure told in one piece where a stream was asked for, under a good status."""
        if "json" in response.headers.get("content-type", ""):
            self._refuse(_plain(response.read()))

    def refuse_nonsense(self, body: bytes) -> None:
        """Raise ProviderError for a failure told under a good status, and ValueError for what is no JSON object."""
        document = _plain(body)
        self._refuse(document)
        if not isinstance(document, dict):
            raise ValueError("the service sent no JSON object")

    def _refuse(self, document: object) -> None:
        failure = self._service.refusals.complaint(document)
        if failure is not None:
            raise self._failed(failure) from None


def fields_of(answer: object) -> dict[str, object]:
    """An answer of the SDK's as plain data, as it came. Raises ValueError for what is no object at all."""
    if not isinstance(answer, anthropic.BaseModel):
        raise ValueError(f"the service sent {type(answer).__name__} where an object belongs")
    return answer.to_dict(warnings=False)


def _plain(data: bytes) -> object:
    """JSON as it stands; None for what is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
