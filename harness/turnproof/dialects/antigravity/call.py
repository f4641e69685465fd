"""A call of the gateway: one of the Gemini API, with its address and the account that it is made for.

A request's method and path name a method of the gateway, or the token endpoint beside it. The gateway has several hosts
that serve the same, and clients go from one to the next where one fails. An emulator has one address: here a host is
the first folder of a path, so that base addresses that differ in it are different hosts (`BASE/daily`, `BASE/prod`, and
`BASE` itself). A host whose name is `down-STATUS` answers nothing but that status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..base import HttpRequest, Operation
from ..gemini.surfaces import GeminiCall, Surface
from .accounts import Account

TOKEN = "token"
POLL = "operations"

_VERBS: dict[str, Operation] = {
    "generateContent": "generate",
    "streamGenerateContent": "generate",
    "countTokens": "count_tokens",
    "fetchAvailableModels": "list_models",
    "loadCodeAssist": "other",
    "onboardUser": "other",
    "retrieveUserQuota": "other",
    "fetchAdminControls": "other",
    "listExperiments": "other",
    "recordCodeAssistMetrics": "other",
}
_HOST = r"(?:/([a-z][a-z0-9-]*))?"
_METHOD = re.compile(rf"{_HOST}/v1internal:(\w+)")
_OPERATION = re.compile(rf"{_HOST}/v1internal/(operations/[\w-]+)")
_TOKEN = re.compile(rf"{_HOST}/token")
_DOWN = re.compile(r"down-([45]\d\d)")


@dataclass(frozen=True, slots=True)
class Address:
    """`resource` is the long-running operation that is asked about; empty for anything else."""

    operation: Operation
    verb: str
    host: str = ""
    resource: str = ""


def address(request: HttpRequest) -> Address | None:
    """What a request is addressed to; None where there is nothing for this method and path."""
    method, path = request.method.upper(), request.path
    if method == "POST" and (found := _METHOD.fullmatch(path)) and (operation := _VERBS.get(found[2])):
        return Address(operation, found[2], found[1] or "")
    if method == "GET" and (found := _OPERATION.fullmatch(path)):
        return Address("other", POLL, found[1] or "", found[2])
    if method == "POST" and (found := _TOKEN.fullmatch(path)):
        return Address("authenticate", TOKEN, found[1] or "")
    return None


def failure(host: str) -> int | None:
    """The status that a host answers everything with; None for one that works."""
    found = _DOWN.fullmatch(host)
    return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class AntigravityCall(GeminiCall):
    """`body` is what stood in the envelope's `request`, or the body of a request that has none.

    `host` names the host that was asked, as its base address does (empty where it does not), `verb` is the gateway's
    word for what is wanted. `account` is whose token was sent; None where nobody's was.
    """

    surface: Surface = Surface.CLOUD_CODE
    version: str = "v1internal"
    host: str = ""
    verb: str = ""
    project: str = ""
    account: Account | None = None
