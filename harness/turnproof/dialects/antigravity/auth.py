"""Who is asking, and whether that one may: the access token, and the state of the account it belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from ...messages import JSON
from ..base import HttpRequest, Refusal, Rule, World
from . import accounts, rules
from .accounts import Account
from .errors import Explained, error_info, help_link

_EXPECTED = (
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
    "https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_NO_LICENCE = (
    "You are currently configured to use a Google Cloud Project but lack a Gemini Code Assist license. Please contact "
    "your administrator to request a license. (#3501)"
)
_VERIFY = "Verify your account to continue."
_VERIFY_AT = "https://accounts.google.com/signin/continue?flowName=GlifWebSignIn"
_LICENCES = "https://cloud.google.com/gemini/docs/codeassist/request-license"


def account_of(request: HttpRequest, world: World) -> Account | None:
    """Whose access token a request carries; None without one that is good."""
    token = _bearer(request)
    return accounts.account_by_access_token(token, world) if token else None


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing."""
    if not _bearer(request):
        message = f"Request is missing required authentication credential. {_EXPECTED}"
        yield Refusal(rules.MISSING_TOKEN, 401, "UNAUTHENTICATED", message, "authorization")
    elif account_of(request, world) is None:
        message = f"Request had invalid authentication credentials. {_EXPECTED}"
        yield Refusal(rules.BAD_TOKEN, 401, "UNAUTHENTICATED", message, "authorization")


def state_refusals(account: Account) -> Iterator[Refusal]:
    """Why an account may ask for no answers."""
    match account.standing:
        case "unlicensed":
            domain = "cloudaicompanion.googleapis.com"
            details = (error_info("SUBSCRIPTION_REQUIRED", domain=domain), help_link("Learn more", _LICENCES))
            yield _forbidden(rules.UNLICENSED, _NO_LICENCE, *details)
        case "unverified":
            metadata = {
                "validation_error_message": _VERIFY,
                "validation_url_link_text": "Verify your account",
                "validation_url": _VERIFY_AT,
            }
            details = (error_info("VALIDATION_REQUIRED", metadata), help_link("Verify your account", _VERIFY_AT))
            yield _forbidden(rules.UNVERIFIED, _VERIFY, *details)


def _forbidden(rule: Rule, message: str, *details: JSON) -> Refusal:
    return Explained(rule, 403, "PERMISSION_DENIED", message, "authorization", details=details)


def _bearer(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
