"""The token endpoint: a refresh token in, an access token out.

It stands at another host in the real service (`oauth2.googleapis.com/token`); a client has to be told its address.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

from ...messages import JSON
from ..base import HttpRequest, Refusal, Rule, World
from . import accounts, rules
from .accounts import Account
from .call import TOKEN, AntigravityCall

_SCOPES = "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email"


def parse(request: HttpRequest, world: World, host: str) -> AntigravityCall:
    """Whose access token is asked for. The form itself, which is a secret, does not become part of the call."""
    account = accounts.account_by_refresh_token(_form(request).get("refresh_token", ""), world)
    return AntigravityCall("authenticate", host=host, verb=TOKEN, account=account)


def refusals(request: HttpRequest, account: Account | None) -> Iterator[Refusal]:
    """Why there is no access token."""
    form = _form(request)
    grant = form.get("grant_type", "")
    if grant != "refresh_token":
        yield _refuse(rules.GRANT_TYPE, "unsupported_grant_type", f"Invalid grant_type: {grant}")
    for name in ("client_id", "refresh_token"):
        if not form.get(name):
            yield _refuse(rules.MISSING_PARAMETER, "invalid_request", f"Missing required parameter: {name}")
    if not form.get("client_secret"):
        yield _refuse(rules.CLIENT_SECRET, "invalid_request", "client_secret is missing.")
    if account is None or account.standing == "revoked":
        # The same words, whether it was revoked or never issued.
        yield _refuse(rules.INVALID_GRANT, "invalid_grant", "Token has been expired or revoked.")


def token_answer(account: Account, world: World) -> JSON:
    """The answer to a refresh; the access token in it is known to the world from now on."""
    token = accounts.issue(account, world)
    return {"access_token": token, "expires_in": int(accounts.LIFETIME), "scope": _SCOPES, "token_type": "Bearer"}


def _form(request: HttpRequest) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(request.body.decode(errors="replace")).items()}


def _refuse(rule: Rule, error: str, description: str) -> Refusal:
    return Refusal(rule, 400, error, description)
