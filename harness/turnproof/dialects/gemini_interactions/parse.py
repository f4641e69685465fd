"""A request in neutral form, read from its bytes and what the service holds of the conversation.

`parse` refuses only what cannot be read as a request of this API: another address or method, a body that is not JSON, a
value of the wrong type, no model. A wrong key is named before any of these.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...messages import JSON, Text, ToolSchema
from ..base import Call, HttpRequest, Refusal, World
from ..base_dialect import UnreadableRequest, call_or_refusal, json_object, unreadable_body, with_method
from ..gemini import DIALECT as GEMINI
from . import auth, conversation, rules
from .addresses import Address, InteractionsCall, addresses_of, is_of_gemini
from .steps import Unreadable, parts_of
from .store import kept_interaction

_CONVERSATION = frozenset(
    {
        "model", "agent", "input", "system_instruction", "tools", "stream", "previous_interaction_id",
        "generation_config",
    }
)  # fmt: skip
_STRINGS = ("model", "agent", "system_instruction", "previous_interaction_id", "continuation_token")
_FLAGS = ("stream", "store", "background")


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as an `InteractionsCall`, or the first refusal that the API would give for something that is none.

    The model list is read as that of the Gemini API.
    """
    if is_of_gemini(request):
        return GEMINI.parse(request, world)
    return call_or_refusal(partial(_call, request, world), _unreadable, auth.refusals(request, world))


def _call(request: HttpRequest, world: World) -> InteractionsCall:
    address = _address(request)
    if address.operation == "stored":
        return InteractionsCall(
            "stored",
            stream=request.query.get("stream") == "true",
            settings=dict(request.query),
            action=address.action,
            resource=address.resource,
        )
    body = _body(request.body)
    if body.get("model") is None and body.get("agent") is None:
        message = "Either `model` or `agent` has to be given."
        raise UnreadableRequest(Refusal(rules.MISSING_MODEL, 400, "invalid_request", message, "$.model"))
    try:
        return _read(body, world)
    except Unreadable as error:
        message = f"Invalid value at `{error.where}`: expected {error.expected}."
        path = f"$.{error.where}"
        raise UnreadableRequest(Refusal(rules.MALFORMED_BODY, 400, "invalid_request", message, path)) from None


def _read(body: dict[str, Any], world: World) -> InteractionsCall:
    for name in _STRINGS:
        if not isinstance(body.get(name), str | None):
            raise Unreadable(name, "a string")
    for name in _FLAGS:
        if not isinstance(body.get(name), bool | None):
            raise Unreadable(name, "a boolean")
    if not isinstance(body.get("generation_config"), dict | None):
        raise Unreadable("generation_config", "an object")
    model = body.get("model") or ""
    own = _steps(body.get("input"))
    previous = kept_interaction(world, body.get("previous_interaction_id"))
    carried = previous.context if previous is not None else ()
    system = body.get("system_instruction")
    return InteractionsCall(
        "generate",
        model=body.get("model"),
        stream=body.get("stream") is True,
        system=(Text(system),) if system else (),
        tools=_tools(body.get("tools")),
        messages=conversation.messages((*carried, *own), model),
        body=body,
        settings={key: value for key, value in body.items() if key not in _CONVERSATION} | _generation(body),
        resource=body.get("previous_interaction_id"),
        managed_messages=len(conversation.messages(carried, model)),
        kept_answer=body.get("store") is not False,
        steps=(*carried, *own),
        carried=len(carried),
    )


def _generation(body: dict[str, Any]) -> dict[str, Any]:
    """The settings of `generation_config`, which are settings like any other."""
    return body.get("generation_config") or {}


def _steps(value: JSON) -> tuple[Any, ...]:
    """The steps of a request, each of which can be read. Raises `Unreadable` with the whole path."""
    try:
        own = conversation.steps_of(value)
    except Unreadable as error:
        raise Unreadable(f"input{error.where}", error.expected) from None
    for n, step in enumerate(own):
        try:
            parts_of(step, "")
        except Unreadable as error:
            raise Unreadable(f"input[{n}].{error.where}", error.expected) from None
    return own


def _address(request: HttpRequest) -> Address:
    path, method = request.path, request.method.upper()
    nowhere = Refusal(rules.NOT_FOUND, 404, "not_found", f"The requested URL {path} was not found on this server.")
    wrong_method = Refusal(rules.METHOD_NOT_ALLOWED, 405, "invalid_request", f"{path} takes no {method}.")
    return with_method(addresses_of(request), method, nowhere=nowhere, wrong_method=wrong_method)


def _unreadable(reason: str | None) -> Refusal:
    return _malformed(unreadable_body(reason))


def _malformed(message: str) -> Refusal:
    return Refusal(rules.MALFORMED_JSON, 400, "invalid_request", message)


def _body(data: bytes) -> dict[str, Any]:
    no_json, no_object = _malformed("The request body is no JSON."), _malformed("The request body is no JSON object.")
    return json_object(data, no_json=no_json, no_object=no_object)


def _tools(value: JSON) -> tuple[ToolSchema, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unreadable("tools", "a list of tools")
    return tuple(_tool(tool, f"tools[{n}]") for n, tool in enumerate(value))


def _tool(tool: JSON, where: str) -> ToolSchema:
    if not isinstance(tool, dict):
        raise Unreadable(where, "a tool")
    kind = tool.get("type", "function")
    if kind != "function":
        # A tool that the service runs itself: all of its definition is what it is.
        return ToolSchema(str(kind), "", tool)
    name, description, parameters = tool.get("name", ""), tool.get("description") or "", tool.get("parameters")
    if not isinstance(name, str) or not isinstance(description, str):
        raise Unreadable(f"{where}.name", "a string")
    if not isinstance(parameters, dict | None):
        raise Unreadable(f"{where}.parameters", "an object")
    return ToolSchema(name, description, dict(parameters or {}))
