"""What the gateway refuses, in the order in which it would say so.

The order: which host is asked, and by whom; whether that account may ask at all; the model, and what is left of the
quota; what the reader doubted; then what the API behind the gateway refuses, Gemini or Anthropic. Rules that are only
inferred come last and are not enforced.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Call, HttpRequest, Refusal, World
from ..base_dialect import enforced_first
from ..error_answers import usual_error
from ..gemini.models import LEGAL_NAME as LONGER_NAME
from ..gemini.tools import declarations
from ..gemini.validate import contents, signatures, size, turns
from ..gemini.validate.context import Context, refuse
from . import accounts, auth, claude, oauth, rules
from .accounts import Account
from .call import TOKEN, AntigravityCall, failure
from .errors import KINDS, quota
from .models import LEGAL_NAME, is_claude, is_gemini

_SEARCHES = ("googleSearch", "urlContext")


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the gateway would name first in front; inferred ones last."""
    call = AntigravityCall.from_call(call)
    found = list(_access_refusals(request, call, world))
    if call.operation in ("generate", "count_tokens"):
        found += _request_refusals(request, call, world)
    return enforced_first(found)


def _access_refusals(request: HttpRequest, call: AntigravityCall, world: World) -> Iterator[Refusal]:
    status = failure(call.host)
    if status is not None:
        kind, message = usual_error(KINDS, status)
        yield Refusal(rules.HOST_DOWN, status, kind, message)
    if call.verb == TOKEN:
        yield from oauth.refusals(request, call.account)
    else:
        yield from auth.refusals(request, world)


def _request_refusals(request: HttpRequest, call: AntigravityCall, world: World) -> Iterator[Refusal]:
    context = Context.from_request(request, call, world)
    if call.operation == "generate" and call.account is not None:
        yield from auth.state_refusals(call.account)
        yield from _project(call, call.account)
    if context.facts is None and call.model is not None:
        message = "Requested entity was not found."
        yield Refusal(rules.UNKNOWN_MODEL, 404, "NOT_FOUND", message, "$.model")
    yield from call.doubts
    if call.operation == "generate":
        if call.account is not None:
            yield from _quota(call.account, call.model or "", world)
        yield from map(rules.gateway_refusal, contents.check(context))
        yield from _tools(context)
        yield from map(rules.gateway_refusal, contents.settings(context))
        yield from _conversation(context)


def _project(call: AntigravityCall, account: Account) -> Iterator[Refusal]:
    if not call.project:
        yield Refusal(rules.MISSING_PROJECT, 403, "PERMISSION_DENIED", "No project was named", "$.project")
    elif call.project != account.project and call.project.startswith(accounts.PROJECTS):
        # One that the service did not make may be anybody's.
        message = f"Permission denied on resource project {call.project}."
        yield Refusal(rules.OTHERS_PROJECT, 403, "PERMISSION_DENIED", message, "$.project")


def _quota(account: Account, model: str, world: World) -> Iterator[Refusal]:
    fraction, wait = accounts.remaining_quota(account, model, world)
    if fraction == 0:
        yield quota(rules.QUOTA, model, wait, world.clock())


def _tools(context: Context) -> Iterator[Refusal]:
    tools = context.content.get("tools", ())
    declared = list(declarations(tools))
    for path, each in declared:
        name = each.get("name", "")
        # What is no name for the Gemini API either has been refused with the rest of what is asked.
        if LONGER_NAME.fullmatch(name) and not LEGAL_NAME.fullmatch(name):
            yield refuse(rules.TOOL_NAME, f"* {context.message}.{path}.name: {contents.ILLEGAL_NAME}\n", f"{path}.name")
    if declared and any(kind in tool for tool in tools for kind in _SEARCHES):
        # Only that it is refused is known.
        yield refuse(rules.SEARCH_WITH_FUNCTIONS, "Request contains an invalid argument.", "tools")


def _conversation(context: Context) -> Iterator[Refusal]:
    if is_claude(context.facts):
        yield from claude.check(context)
    elif is_gemini(context.facts):
        for check in (size.files, turns.check, signatures.check, size.check):
            yield from map(rules.gateway_refusal, check(context))
