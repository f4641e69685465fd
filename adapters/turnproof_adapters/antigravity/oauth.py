"""A refresh token in, an access token out (RFC 6749, section 6; https://developers.google.com/identity/protocols/oauth2).

An access token is kept until shortly before it expires, and exchanged once, however many threads need it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx2
import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import AuthenticationError

from .._decoding import decode_json
from .accounts import Access, Account, Clock
from .refusals import Refusal

TOKEN_URL = "https://oauth2.googleapis.com/token"

MARGIN = 60.0
"""Seconds before its end at which a token is exchanged: a request takes its time to arrive."""

REVOKED = "invalid_grant"
"""What the endpoint says to a refresh token that is worth nothing any more."""

LIFETIME = 3600.0
"""Seconds for which a token is good whose answer does not say so."""


class Refused(Exception):
    """The token endpoint said no. Shows nothing by itself."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__("the token endpoint refused")
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Client:
    """The registered program that asks in the accounts' names, and where it asks."""

    token_url: str = TOKEN_URL
    id: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)


class _Granted(msgspec.Struct, frozen=True):
    access_token: str
    expires_in: float | None = None


_granted = msgspec.json.Decoder(_Granted)


def exchange_token(http: httpx2.Client, client: Client, refresh_token: str, clock: Clock) -> Access:
    """A fresh access token. Raises Refused, and ValueError for an answer that is none."""
    sent_at = clock()
    response = http.post(
        client.token_url,
        data={
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": client.id,
            "client_secret": client.secret,
        },
    )
    if response.status_code != 200:
        raise Refused(Refusal.of_body(response.status_code, response.headers, response.content))
    granted = decode_json(_granted, response.content)
    lifetime = LIFETIME if granted.expires_in is None else granted.expires_in
    return Access(granted.access_token, sent_at + lifetime)


def bearer(
    account: Account,
    exchange: Callable[[str], Access],
    clock: Clock,
    token: CancelToken | None,
    *,
    refused: str | None = None,
) -> str:
    """An access token of the account that is good, and is not the one that was `refused`.

    Raises AuthenticationError where there is no way to another, and whatever the exchange raises.
    """
    refresh_token = account.refresh_token
    known_access = account.access.value
    if refresh_token is None:
        if known_access is None or known_access.token == refused:
            raise AuthenticationError("the access token was refused, and there is no refresh token", status=401)
        return known_access.token

    def is_good(access: Access) -> bool:
        return access.token != refused and clock() < access.expires_at - MARGIN

    return account.access.get(is_good, lambda: exchange(refresh_token), token).token
