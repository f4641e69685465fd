"""A request in neutral form, read from its bytes alone.

`parse` refuses what no service can read: an address it does not have, a body that is not JSON, a mandatory field
missing, a value of the wrong type. A missing or wrong key is named before any of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...messages import JSON, ToolSchema
from ..base import HttpRequest, Refusal, Rule, World
from ..base_dialect import UnreadableRequest, call_or_refusal, json_object
from ..openai_values import wrong_type
from . import auth, ollama_words, rules
from .conversation import read
from .errors import ChatRefusal, refuse
from .surfaces import Address, ChatCall, Surface, address, surface_of

_CONVERSATION = frozenset({"messages", "model", "tools", "functions", "stream"})
"""What a call holds in neutral form; everything else is a setting."""

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")

_NOT_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
    "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
    "figuring out how to fix this, please contact us through our help center at help.openai.com.)"
)
_NOWHERE = {
    Surface.AZURE: ("404", "Resource not found"),
    Surface.OLLAMA: ("not_found_error", "404 page not found"),
}
_OBJECT, _ARRAY, _STRING = ((dict,), "an object"), ((list,), "an array of objects"), ((str,), "a string")
_CONTENT = ((str, list, type(None)), "one of a string or array of objects")
_Expected = tuple[tuple[type, ...], str]


def parse(request: HttpRequest, world: World, named: Surface) -> ChatCall | Refusal:
    """The request as a `ChatCall`, or the first refusal its surface would give for something that is none."""
    surface = surface_of(request, named)
    body = (_OllamaBody if surface is Surface.OLLAMA else _Body)(surface)

    def malformed(reason: str | None) -> Refusal:
        return body.not_json(f" {reason}" if reason is not None else "").refusal

    return call_or_refusal(
        lambda: body.call(request, _address(request, surface)), malformed, auth.refusals(request, surface, world)
    )


def _address(request: HttpRequest, surface: Surface) -> Address:
    found = address(request, surface)
    request_line = f"({request.method.upper()} {request.path})"
    if found is None and surface is Surface.ZAI:
        raise UnreadableRequest(ChatRefusal(rules.ZAI_ROUTE, 200, "500", "404 NOT_FOUND", surface=surface))
    if found is None:
        kind, message = _NOWHERE.get(surface, ("invalid_request_error", f"Invalid URL {request_line}"))
        raise UnreadableRequest(ChatRefusal(rules.NOT_FOUND, 404, kind, message, surface=surface))
    if request.method.upper() != found.method:
        message = f"Not allowed to {request.method.upper()} on {request.path}."
        raise UnreadableRequest(ChatRefusal(rules.METHOD, 405, "invalid_request_error", message, surface=surface))
    return found


class _Body:
    """Reads the body of one request of a surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def call(self, request: HttpRequest, found: Address) -> ChatCall:
        if found.method == "GET":
            return ChatCall(found.operation, model=found.model, surface=self._surface)
        body = self._object(request.body)
        model = found.model or body.get("model")
        if model is None or model == "":
            raise self._no_model()
        self._expect(model, _STRING, "model")
        if body.get("messages") is None:
            raise self._no_messages()
        self._messages(body["messages"])
        for field in ("stream_options", "response_format"):
            if body.get(field) is not None:
                self._expect(body[field], _OBJECT, field)
        tools = (*self._tools(body.get("tools")), *self._functions(body.get("functions")))
        system, messages = read(body["messages"], model)
        return ChatCall(
            operation=found.operation,
            model=model,
            stream=body.get("stream") is True,
            system=system,
            tools=tools,
            messages=messages,
            body=body,
            settings={key: value for key, value in body.items() if key not in _CONVERSATION},
            surface=self._surface,
        )

    # -- the parts of a body

    def _object(self, data: bytes) -> dict[str, Any]:
        refusal = self.not_json().refusal
        return json_object(data, no_json=refusal, no_object=refusal)

    def _messages(self, messages: JSON) -> None:
        self._expect(messages, _ARRAY, "messages")
        for n, message in enumerate(messages):
            where = f"messages[{n}]"
            self._expect(message, _OBJECT, where)
            self._role(message.get("role"), f"{where}.role")
            self._expect(message.get("content"), _CONTENT, f"{where}.content")
            if isinstance(message.get("content"), list):
                for m, block in enumerate(message["content"]):
                    self._expect(block, _OBJECT, f"{where}.content[{m}]")
            self._calls(message.get("tool_calls"), f"{where}.tool_calls")
            for field in ("tool_call_id", "name"):
                if message.get(field) is not None:
                    self._expect(message[field], _STRING, f"{where}.{field}")

    def _role(self, role: JSON, where: str) -> None:
        if role not in _ROLES:
            *others, last = map(repr, _ROLES)
            words = f"Invalid value: {role!r}. Supported values are: {', '.join(others)}, and {last}."
            raise self._invalid(rules.INVALID_ROLE, words, "invalid_value", where)

    def _calls(self, calls: JSON, where: str) -> None:
        if calls is None:
            return
        self._expect(calls, _ARRAY, where)
        for n, call in enumerate(calls):
            self._expect(call, _OBJECT, f"{where}[{n}]")
            self._expect(call.get("id", ""), _STRING, f"{where}[{n}].id")
            if call.get("type", "function") == "function":
                function = call.get("function")
                self._expect(function, _OBJECT, f"{where}[{n}].function")
                for field in ("name", "arguments"):
                    self._expect(function.get(field, ""), _STRING, f"{where}[{n}].function.{field}")

    def _tools(self, tools: JSON) -> list[ToolSchema]:
        return self._schemas(tools, "tools", self._tool)

    def _tool(self, tool: JSON, where: str) -> ToolSchema:
        self._expect(tool, _OBJECT, where)
        kind = str(tool.get("type", "function"))
        if kind != "function":
            return ToolSchema(kind, "", tool)
        return self._schema(tool.get("function"), f"{where}.function")

    def _functions(self, functions: JSON) -> list[ToolSchema]:
        return self._schemas(functions, "functions", self._schema)

    def _schemas(self, value: JSON, name: str, read: Callable[[JSON, str], ToolSchema]) -> list[ToolSchema]:
        """The declarations in a list of the body, each as `read` reads it; none where there is no list."""
        if value is None:
            return []
        self._expect(value, _ARRAY, name)
        return [read(each, f"{name}[{n}]") for n, each in enumerate(value)]

    def _schema(self, function: JSON, where: str) -> ToolSchema:
        self._expect(function, _OBJECT, where)
        name, description = function.get("name"), function.get("description") or ""
        if name is None:
            name = self._nameless(f"{where}.name")
        parameters = function.get("parameters") or {}
        self._expect(name, _STRING, f"{where}.name")
        self._expect(description, _STRING, f"{where}.description")
        self._expect(parameters, _OBJECT, f"{where}.parameters")
        return ToolSchema(name, description, parameters)

    def _nameless(self, where: str) -> str:
        raise self._missing(where)

    # -- refusing

    def _expect(self, value: JSON, expected: _Expected, where: str) -> None:
        kinds, words = expected
        if not isinstance(value, kinds):
            raise self._wrong_type(where, words, value)

    def _wrong_type(self, where: str, expected: str, value: JSON) -> UnreadableRequest:
        fault = wrong_type(where, expected, value)
        return self._invalid(rules.INVALID_TYPE, fault.message, fault.code, fault.path)

    def not_json(self, more: str = "") -> UnreadableRequest:
        return self._invalid(rules.MALFORMED_JSON, f"{_NOT_JSON}{more}")

    def _no_model(self) -> UnreadableRequest:
        return self._invalid(rules.MISSING_MODEL, "you must provide a model parameter")

    def _no_messages(self) -> UnreadableRequest:
        return self._missing("messages")

    def _missing(self, path: str) -> UnreadableRequest:
        words = f"Missing required parameter: '{path}'."
        return self._invalid(rules.MISSING_FIELD, words, "missing_required_parameter", path)

    def _invalid(
        self, rule: Rule, message: str, kind: str = "invalid_request_error", path: str = "$"
    ) -> UnreadableRequest:
        return UnreadableRequest(refuse(self._surface, rule, kind, message, path))


class _OllamaBody(_Body):
    """The same at Ollama, which refuses less, and in words of its own."""

    def _role(self, role: JSON, where: str) -> None:
        self._expect("" if role is None else role, _STRING, where)

    def _wrong_type(self, where: str, expected: str, value: JSON) -> UnreadableRequest:
        rule, message = ollama_words.wrong_type(where, expected, value)
        return self._invalid(rule, message, path=where)

    def not_json(self, more: str = "") -> UnreadableRequest:
        return self._invalid(rules.OLLAMA_BODY, f"{ollama_words.NOT_JSON}{more}")

    def _no_model(self) -> UnreadableRequest:
        return self._invalid(rules.OLLAMA_NO_MODEL, ollama_words.NO_MODEL, path="model")

    def _no_messages(self) -> UnreadableRequest:
        return self._invalid(rules.OLLAMA_NO_MESSAGES, ollama_words.NO_MESSAGES, path="messages")

    def _nameless(self, where: str) -> str:
        return ""
