"""A request in neutral form, read from its bytes and what the service holds of the conversation.

`parse` refuses only what cannot be read as a request of this API: another address or method, a body that is not JSON, a
value of the wrong type. A wrong key is named before any of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...messages import JSON, Part, Text, ToolSchema
from ..base import SOCKET_METHOD, Call, HttpRequest, Refusal, World
from ..base_dialect import UnreadableRequest, call_or_refusal, json_object, unreadable_body, with_method
from ..openai_values import wrong_type
from . import auth, conversation, fields, over_socket, rules
from .errors import COPILOT_BAD_REQUEST
from .items import Unreadable, id_of, parts_of
from .socket_memory import lane_of
from .store import kept_conversation, previous_response
from .surfaces import (
    STATELESS,
    Address,
    Item,
    ResponsesCall,
    Surface,
    addresses_of,
    conversation_id,
    surface_of,
    takes_sockets,
)

_CONVERSATION = fields.ON_SOCKETS | {
    "model", "input", "instructions", "tools", "stream", "previous_response_id", "conversation",
}  # fmt: skip
_WITH_PROMPT = ("generate", "count_tokens")
_OBJECTS = ("reasoning", "text", "metadata", "stream_options")


def parse(request: HttpRequest, world: World, named: Surface = Surface.OPENAI) -> Call | Refusal:
    """The request as a `ResponsesCall`, or the first refusal the API would give for something that is none.

    `named` is the surface that the dialect was asked for.
    """
    identity = auth.refusals(request, surface_of(request, named), world)
    return call_or_refusal(partial(_call, request, world, named), _unreadable, identity)


def _call(request: HttpRequest, world: World, named: Surface) -> ResponsesCall:
    if over_socket.is_handshake(request) and takes_sockets(request, named):
        return ResponsesCall("connect", socket=_socket(request), surface=named)
    address = _address(request, named)
    try:
        return _of_address(request, address, world)
    except Unreadable as error:
        fault = wrong_type(error.where, error.expected, error.value)
        kind = _code(address, fault.code)
        raise UnreadableRequest(Refusal(rules.MALFORMED_BODY, 400, kind, fault.message, f"$.{fault.path}")) from None


def _of_address(request: HttpRequest, address: Address, world: World) -> ResponsesCall:
    """The request for an operation. Raises `Unreadable` for a value of the wrong type."""
    if address.operation not in _WITH_PROMPT and address.action != "compact":
        return _without_prompt(request, address)
    body = _body(request.body)
    if over_socket.is_message(request) and body.get("type") != over_socket.CREATE:
        message = f"Unknown event type: {body.get('type')!r}. Supported values are: '{over_socket.CREATE}'."
        raise UnreadableRequest(Refusal(rules.SOCKET_MESSAGE, 400, "invalid_request_error", message, "$.type"))
    model = body.get("model")
    if (
        model is None
        and address.operation != "count_tokens"
        and body.get("prompt") is None
        and address.surface is not Surface.LLAMACPP
    ):
        message = "Missing required parameter: 'model'."
        raise UnreadableRequest(
            Refusal(rules.MISSING_FIELD, 400, _code(address, "missing_required_parameter"), message, "$.model")
        )
    return _read(body, address, request, world)


def _without_prompt(request: HttpRequest, address: Address) -> ResponsesCall:
    """A request that no model sees."""
    body = _body(request.body) if request.body and address.operation == "stored" else None
    if body is not None:
        _readable_fields(body)
    return ResponsesCall(
        address.operation,
        model=address.model,
        body=body,
        settings=dict(request.query) if address.operation == "stored" else {},
        action=address.action,
        resource=address.resource,
        surface=address.surface,
        stored_kind=address.stored_kind,
        item=address.item,
    )


def _readable_fields(body: Mapping[str, Any]) -> None:
    """Raise `Unreadable` for a field of a conversation that has another type than it has to have."""
    _object(body, "metadata")
    items = body.get("items")
    if not isinstance(items, list | None):
        raise Unreadable("items", "an array of objects", items)
    _objects(items or (), "items")


def _object(body: Mapping[str, Any], name: str) -> None:
    if not isinstance(body.get(name), dict | None):
        raise Unreadable(name, "an object", body[name])


def _objects(items: Sequence[JSON], name: str) -> None:
    for n, item in enumerate(items):
        if not isinstance(item, dict):
            raise Unreadable(f"{name}[{n}]", "an object", item)


def _read(body: dict[str, Any], address: Address, request: HttpRequest, world: World) -> ResponsesCall:
    for name, expected in (("model", "a string"), ("instructions", "a string"), ("previous_response_id", "a string")):
        if not isinstance(body.get(name), str | None):
            raise Unreadable(name, expected, body[name])
    for name in _OBJECTS:
        _object(body, name)
    model = body.get("model") or ""
    sent = _items(body.get("input"))
    own = conversation.resolved(sent, world)
    socket = _socket(request)
    carried = () if address.surface in STATELESS else _carried(body, socket, world)
    items = (*carried, *own)
    for n, item in enumerate(own):
        _readable(item, n)
    start = conversation.count_instructions(items)
    messages = conversation.messages(items, model)
    earlier_messages = conversation.messages(carried, model)
    warms_up = socket is not None and body.get("generate") is False
    return ResponsesCall(
        "stored" if warms_up else address.operation,
        model=body.get("model"),
        stream=body.get("stream") is True or socket is not None,
        system=_system(_instructions(body, address, socket, world), items[:start], model),
        tools=_tools(body.get("tools")),
        messages=messages,
        body=body,
        settings={key: value for key, value in body.items() if key not in _CONVERSATION},
        action="create" if warms_up else address.action,
        resource=body.get("previous_response_id") or conversation_id(body),
        managed_messages=len(earlier_messages),
        in_conversation=not body.get("previous_response_id") and conversation_id(body) is not None,
        kept_answer=address.operation == "generate"
        and address.surface not in STATELESS
        and body.get("store") is not False,
        connection_holds=socket is not None,
        looked_up=tuple(id_of(item) or "" for item in sent if conversation.is_by_name(item)),
        surface=address.surface,
        items=items,
        carried=len(carried),
        socket=socket,
        lane="" if socket is None else lane_of(request.body),
    )


def _socket(request: HttpRequest) -> int | None:
    """The number of the socket that a message came by, or that a handshake asks for."""
    if not over_socket.is_message(request) and not over_socket.is_handshake(request):
        return None
    return -1 if request.connection is None else request.connection


def _carried(body: dict[str, Any], socket: int | None, world: World) -> tuple[Item, ...]:
    """What the service holds in front of the items of a request."""
    if (previous := previous_response(world, body.get("previous_response_id"), socket)) is not None:
        return previous.context
    conversation_in_store = kept_conversation(world, conversation_id(body))
    return tuple(conversation_in_store.items) if conversation_in_store is not None else ()


def _instructions(body: dict[str, Any], address: Address, socket: int | None, world: World) -> str | None:
    """The instructions that the model sees. At xAI a chain has those of its first request."""
    own: str | None = body.get("instructions")
    if own is None and address.surface is Surface.XAI:
        previous = previous_response(world, body.get("previous_response_id"), socket)
        carried = previous.current.get("instructions") if previous is not None else None
        return carried if isinstance(carried, str) else None
    return own


def _readable(item: Item, n: int) -> None:
    """Raise `Unreadable`, with the whole path, for an item that cannot be read."""
    try:
        parts_of(item, "")
    except Unreadable as error:
        raise Unreadable(f"input[{n}].{error.where}", error.expected, error.value) from None


def _code(address: Address, code: str) -> str:
    return COPILOT_BAD_REQUEST if address.surface is Surface.COPILOT else code


def _address(request: HttpRequest, named: Surface) -> Address:
    path, method = request.path, request.method.upper()
    nowhere = Refusal(rules.NOT_FOUND, 404, "invalid_request_error", f"Invalid URL ({method} {path})")
    not_allowed = f"Not allowed to {method} on {path}."
    wrong_method = Refusal(rules.METHOD_NOT_ALLOWED, 405, "method_not_supported", not_allowed)
    found = addresses_of(request, named)
    if method == SOCKET_METHOD:
        found = [replace(one, method=SOCKET_METHOD) for one in found if one.operation == "generate"]
    return with_method(found, method, nowhere=nowhere, wrong_method=wrong_method)


def _unreadable(reason: str | None) -> Refusal:
    return _malformed(unreadable_body(reason))


def _malformed(message: str) -> Refusal:
    return Refusal(rules.MALFORMED_JSON, 400, "invalid_request_error", message)


def _body(data: bytes) -> dict[str, Any]:
    refusal = _malformed("We could not parse the JSON body of your request.")
    return json_object(data, no_json=refusal, no_object=refusal)


def _items(value: JSON) -> tuple[Item, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return ({"role": "user", "content": value},)
    if not isinstance(value, list):
        raise Unreadable("input", "one of an array of objects or string", value)
    _objects(value, "input")
    return tuple(value)


def _system(instructions: str | None, opening: tuple[Item, ...], model: str) -> tuple[Part, ...]:
    texts = (Text(instructions),) if instructions else ()
    return (*texts, *(part for item in opening for part in parts_of(item, model)))


def _tools(value: JSON) -> tuple[ToolSchema, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unreadable("tools", "an array of objects", value)
    return tuple(_tool(tool, f"tools[{n}]") for n, tool in enumerate(value))


def _tool(tool: JSON, where: str) -> ToolSchema:
    if not isinstance(tool, dict):
        raise Unreadable(where, "an object", tool)
    kind = tool.get("type", "function")
    name = tool.get("name", kind)
    if not isinstance(name, str):
        raise Unreadable(f"{where}.name", "a string", name)
    if kind != "function":
        # A tool of the service itself: all of its definition is what it is.
        return ToolSchema(name, "", tool)
    parameters: Mapping[str, Any] | None = tool.get("parameters")
    if not isinstance(parameters, dict | None):
        raise Unreadable(f"{where}.parameters", "an object", parameters)
    description = tool.get("description") or ""
    if not isinstance(description, str):
        raise Unreadable(f"{where}.description", "a string", description)
    return ToolSchema(name, description, dict(parameters or {}))
