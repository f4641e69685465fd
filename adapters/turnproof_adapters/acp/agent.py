"""An agent program over the Agent Client Protocol, as an `Agent` of turnproof."""

from __future__ import annotations

from acp import RequestError

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, TransportError
from turnproof.messages import Part, ProviderResponse, Text
from turnproof.provider import JSONSchema

from .._agent import Content
from .._answers import Listeners
from .failures import typed_error
from .prompt import blocks, parts_of
from .sessions import AcpSessions
from .turn import Turn


class AcpAgent(AcpSessions):
    """One agent: its sessions, and the turns in them. What `Agent` promises, holds for it.

    What a retried message said before it broke off is no part of the answer where the program names its messages
    (Claude); others' retries cannot be told from more text.
    """

    def _send(
        self, content: Content, response_schema: JSONSchema | None, listeners: Listeners, token: CancelToken
    ) -> ProviderResponse:
        token.raise_if_cancelled()
        if response_schema is not None:
            raise InvalidRequestError(f"{self._program.name} does not heed a response schema")
        parts = parts_of(content)
        with self._one_at_a_time():
            self._ensure_session()
            token.raise_if_cancelled()
            return self._turn(parts, listeners, token)

    def _turn(self, parts: tuple[Part, ...], listeners: Listeners, token: CancelToken) -> ProviderResponse:
        session, run = self._open, self._link.started()
        assert session is not None
        first = [] if self._has_begun or self._link.instructed or not self._setup.system else [Text(self._setup.system)]
        prompt = blocks([*first, *parts], images=run.takes("image"), embedded=run.takes("embeddedContext"))
        self._hear_replay()
        self._replay = None
        turn = Turn(parts, self._calls, self._program, listeners, lambda: self._link.tool_server.calls)
        request = self._link.begin(session, prompt, token)
        forget = token.on_cancel(lambda: self._link.stop(session, request))
        try:
            self._listen(session, turn, token)
            answer = request.result()
        except RequestError as error:
            if not token.is_cancelled:
                known = typed_error(error, turn.apology_text, self._link.scrub)
                known.partial = turn.parts
                if isinstance(known, TransportError):
                    self._drop()  # whatever it is, the program may not be fit for another turn
                raise known from None
            self._drop()
            answer = None
        except TransportError as error:
            self._drop()
            if not token.is_cancelled:
                error.partial = turn.parts
                raise
            answer = None
        except BaseException:
            # A listener's own: the turn is nobody's any more.
            turn.hushed = True
            self._link.stop(session, request)
            self._listen(session, turn, token)
            if not request.done() or request.exception() is not None:
                self._drop()
            raise
        finally:
            forget()
            self._link.over()
        return self._ended(turn, answer, token)

    def _ended(self, turn: Turn, answer: object, token: CancelToken) -> ProviderResponse:
        result = answer if isinstance(answer, dict) else None
        stopped = result is None or result.get("stopReason") == "cancelled" or turn.hushed
        if token.is_cancelled and stopped:
            response = turn.cancelled(result)
            self._has_begun = True
            if result is not None and self._program.loses_count(self._link.started().agent):
                self._drop()
        else:
            try:
                response = turn.response(result or {})
            except TransportError:
                self._drop()
                raise
            self._has_begun = True
        self._history += turn.messages()
        return response

    def _listen(self, session: str, turn: Turn, token: CancelToken) -> None:
        """Feed the turn with its updates, to its end."""
        while (session_update := self._link.inbox.get()) is not None:
            whose, update = session_update
            turn.hushed = turn.hushed or token.is_cancelled
            if whose == session:
                turn.feed(update)
