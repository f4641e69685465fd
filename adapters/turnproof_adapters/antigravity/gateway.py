"""Who is asked, and in whose name: hosts and accounts, one after the other, until one of them answers.

A host that fails is left for the next, an account that may not ask, or has nothing left to ask with, for the next
account; each is tried once in a call. All of this happens before an answer begins: what came of one answer is never
followed by another's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import httpx2
import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError

from .._calling import Caller
from .._decoding import decode_json
from ..google_genai.assemble import stands_alone
from . import errors, oauth
from .accounts import REST, Access, Account, Accounts, Clock
from .refusals import Refusal

HOSTS = (
    "https://daily-cloudcode-pa.sandbox.googleapis.com",
    "https://autopush-cloudcode-pa.sandbox.googleapis.com",
    "https://cloudcode-pa.googleapis.com",
)
"""Where Antigravity's clients ask, in their order (`antigravity.md` §1)."""

T = TypeVar("T")

Send: TypeAlias = Callable[[str, str, str | None], httpx2.Response]
"""Sends a request to a host, with an access token, for an account of that project; gives the response, still open."""

FindProject: TypeAlias = Callable[[Account], str | None]


@dataclass(frozen=True, slots=True)
class _Failed:
    """An attempt that got no answer, and who else may be asked. `model_only` says that the account itself is sound."""

    error: ProviderError
    elsewhere: bool = False
    by_another: bool = False
    model_only: bool = False


class Gateway:
    """The hosts and accounts of a provider. Any number of threads may ask."""

    def __init__(
        self, http: httpx2.Client, hosts: Iterable[str], accounts: Accounts, client: oauth.Client, clock: Clock
    ) -> None:
        self.http = http
        self.caller = Caller(errors.FAILURES, self._typed, stands_alone)
        self._hosts = tuple(hosts)
        self._accounts = accounts
        self._client = client
        self._clock = clock

    def ask_accounts(
        self, send: Send, model: str, token: CancelToken | None, project: FindProject = lambda account: None
    ) -> httpx2.Response:
        """The first answer that anybody gives, still to be read.

        Raises, where nobody answers, of all that was said what promises the most: what passes, and passes soonest.
        """
        failures: list[ProviderError] = []
        for account in self._accounts.in_turn(model):
            try:
                found = self._asked_by(account, send, token, project)
            except Cancelled:
                if not failures:
                    raise
                break  # a request was written before: how such a call ends is the caller's to say
            if isinstance(found, httpx2.Response):
                return found
            failures.append(found.error)
            if not found.by_another or (token is not None and token.is_cancelled):
                break
            self._let_rest(account, model, found)
        raise min(failures, key=_promise)

    def ask(self, account: Account, kind: type[T], path: str, body: object | None, token: CancelToken | None) -> T:
        """What the gateway says to an account itself, with no model in it. Without a body it is a `GET`."""
        decoder = msgspec.json.Decoder(kind)

        def send(host: str, bearer: str, _: str | None) -> httpx2.Response:
            url, headers = f"{host}/v1internal{path}", {"authorization": f"Bearer {bearer}"}
            if body is None:
                return self.http.get(url, headers=headers)
            return self.http.post(url, json=body, headers=headers)

        def ask() -> T:
            found = self._at_hosts(account, send, token, None)
            if isinstance(found, _Failed):
                raise found.error
            return decode_json(decoder, found.content)

        return self.caller.simple(ask, token)

    @property
    def secrets(self) -> Iterator[str]:
        """What must show nowhere."""
        yield from self._accounts.secrets
        yield self._client.secret

    def _asked_by(
        self, account: Account, send: Send, token: CancelToken | None, project: FindProject
    ) -> httpx2.Response | _Failed:
        try:
            named = project(account)
        except ProviderError as error:
            return _Failed(error, by_another=True)
        return self._at_hosts(account, send, token, named)

    def _at_hosts(
        self, account: Account, send: Send, token: CancelToken | None, project: str | None
    ) -> httpx2.Response | _Failed:
        try:
            bearer = self._bearer(account, token)
            found = self._first(bearer, send, token, project)
            if isinstance(found, _Failed) and found.error.status == 401 and account.refresh_token is not None:
                # Refused before its time: exchanged, it may be good.
                found = self._first(self._bearer(account, token, refused=bearer), send, token, project)
        except ProviderError as error:
            return _Failed(error, by_another=True)
        return found

    def _first(
        self, bearer: str, send: Send, token: CancelToken | None, project: str | None
    ) -> httpx2.Response | _Failed:
        """The first host's answer, or what the last one said that was asked."""
        for host in self._hosts:
            found = self._at(host, bearer, send, token, project)
            if isinstance(found, httpx2.Response) or not found.elsewhere:
                break
        return found

    def _at(
        self, host: str, bearer: str, send: Send, token: CancelToken | None, project: str | None
    ) -> httpx2.Response | _Failed:
        try:
            response = send(host, bearer, project)
            if response.status_code == 200:
                return response
            refusal = Refusal.of_body(response.status_code, response.headers, _body(response))
        except (httpx2.NetworkError, httpx2.ConnectTimeout, httpx2.RemoteProtocolError) as error:
            cancelled = token is not None and token.is_cancelled
            return _Failed(self._typed(error), elsewhere=not cancelled)
        return _Failed(
            errors.from_refusal(refusal, self.secrets),
            elsewhere=errors.asks_elsewhere(refusal),
            by_another=errors.asks_another(refusal),
            model_only=refusal.status == 429,
        )

    def _bearer(self, account: Account, token: CancelToken | None, *, refused: str | None = None) -> str:
        def exchange(refresh_token: str) -> Access:
            ask = partial(oauth.exchange_token, self.http, self._client, refresh_token, self._clock)
            return self.caller.simple(ask, token)

        return oauth.bearer(account, exchange, self._clock, token, refused=refused)

    def _let_rest(self, account: Account, model: str, failed: _Failed) -> None:
        now, error = self._clock(), failed.error
        if failed.model_only:
            account.rest(now + (REST if error.retry_after is None else error.retry_after), model)
        else:
            account.rest(math.inf if error.kind == oauth.REVOKED else now + REST)

    def _typed(self, error: Exception) -> ProviderError:
        return errors.from_exception(error, self.secrets)


def _body(response: httpx2.Response) -> bytes:
    """What a refusal says of itself, if it can be read: the status is known already."""
    try:
        return response.read()
    except httpx2.HTTPError:
        return b""
    finally:
        response.close()


def _promise(error: ProviderError) -> tuple[bool, bool, float]:
    """Errors in the order of how much they promise: the wait, and before it whether waiting is of any use."""
    return not error.retryable, error.retry_after is None and not error.retryable, error.retry_after or 0.0
