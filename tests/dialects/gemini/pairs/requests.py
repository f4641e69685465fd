"""Pairs about addresses, keys, and what the service's JSON reader does not read."""

from __future__ import annotations

from dataclasses import replace

from ...requests import Json
from ..asks import Ask, Pair, ask, body, counted, created, declared, loop, parameters, vertex
from ..builders import KEY, MODEL, PARAMETERS, PROJECT, TOOL, call, response, user

_EXPECTED = (
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
    "https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_UNREAD = "Invalid JSON payload received."
_MESSAGES = "type.googleapis.com/google.ai.generativelanguage.v1beta"


def _address() -> list[Pair]:
    missing: Json = {"status": 404, "kind": "NOT_FOUND"}
    unknown = "Requested entity was not found."
    return [
        Pair("not-found", Ask(body(), f"/v1beta/models/{MODEL}:predict"), unknown, ask(), **missing),
        Pair("not-found", replace(ask(), method="GET"), unknown, ask(), **missing, variant="method"),
        Pair("not-found", Ask({}, "/v1beta/cachedContents", "DELETE"), unknown, Ask({}, "/v1beta/cachedContents",
             "GET"),
             **missing, variant="cache"),
    ]  # fmt: skip


def _keys() -> list[Pair]:
    def with_headers(request: Ask, **headers: str | None) -> Ask:
        return replace(request, headers={name.replace("_", "-"): value for name, value in headers.items()})

    token: Json = {"status": 401, "kind": "UNAUTHENTICATED"}
    return [
        Pair("missing-key", with_headers(ask(), x_goog_api_key=None),
             "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
             "other form of API consumer identity to call this API.",
             replace(with_headers(ask(), x_goog_api_key=None), query={"key": KEY}), status=403,
             kind="PERMISSION_DENIED"),
        Pair("bad-key", with_headers(ask(), x_goog_api_key="wrong"), "API key not valid. Please pass a valid API key.",
             with_headers(ask(), x_goog_api_key=KEY)),
        Pair("missing-token", with_headers(vertex(ask()), authorization=None),
             f"Request is missing required authentication credential. {_EXPECTED}", vertex(ask()), **token),
        Pair("bad-token", with_headers(vertex(ask()), authorization="Bearer wrong"),
             f"Request had invalid authentication credentials. {_EXPECTED}",
             with_headers(vertex(ask()), authorization=f"bearer {KEY}"), **token),
        Pair(
            "key-for-token",
            with_headers(vertex(ask()), authorization=None, x_goog_api_key=KEY),
            "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials "
            "that assert a principal. See https://cloud.google.com/docs/authentication",
            # Without a project in the address it is the door that takes keys.
            with_headers(
                Ask(body(), f"/v1beta1/publishers/google/models/{MODEL}:generateContent"),
                authorization=None,
                x_goog_api_key=KEY,
            ),
            **token,
        ),
    ]  # fmt: skip


def _reading() -> list[Pair]:
    return [
        Pair("malformed-json", Ask(raw=b'{"contents": ['), f"{_UNREAD} Input data was truncated",
             Ask(raw=b'{"contents": {"parts": {"text": "Hello"}}}')),
        Pair("malformed-json", Ask(raw=b"[]"), f'{_UNREAD} Unknown name "": Root element must be a message.', ask(),
             variant="no-object"),
        *_names(),
        *_types(),
        Pair("oneof", ask(user({"text": "Look.", "inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}})),
             "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set "
             "'inlineData'", ask(user("Look.", {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}))),
        Pair("oneof", created(ttl="300s", expireTime="2030-01-01T00:00:00Z"),
             "Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set. Cannot set "
             "'expireTime'", created(expireTime="2030-01-01T00:00:00Z"), variant="expiration"),
        Pair("broken-base64", loop({"role": "model", "parts": [call("AAAA=AAAA=")]}, user(response())),
             "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for "
             '"AAAA=AAAA="', loop({"role": "model", "parts": [call("-_-_c2lnbmVk")]}, user(response()))),
    ]  # fmt: skip


def _names() -> list[Pair]:
    strict = PARAMETERS | {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    nested = "tools[0].function_declarations[0].parameters"
    return [
        Pair("unknown-name", ask(max_tokens=1), f'{_UNREAD} Unknown name "max_tokens": Cannot find field.', ask()),
        Pair("unknown-name", declared(TOOL | {"parameters": strict}),
             f"{_UNREAD} Unknown name \"$schema\" at '{nested}': Cannot find field.",
             declared({"name": "read_sensor", "parametersJsonSchema": strict}), variant="schema"),
        Pair("unknown-name", parameters(type="NUMBER", exclusiveMinimum=0),
             f"{_UNREAD} Unknown name \"exclusiveMinimum\" at '{nested}.properties[0].value': Cannot find field.",
             parameters(type="NUMBER", minimum=0), variant="property"),
        Pair("unknown-name", ask({"role": "user", "content": "Hello", "parts": [{"text": "Hello", "type": "text"}]}),
             f"{_UNREAD} Unknown name \"content\" at 'contents[0]': Cannot find field.\n"
             f"{_UNREAD} Unknown name \"type\" at 'contents[0].parts[0]': Cannot find field.",
             ask({"role": "user", "parts": [{"text": "Hello"}]}), variant="two"),
        Pair("unknown-name", created(cachedContent="x"),
             f"{_UNREAD} Unknown name \"cachedContent\" at 'cached_content': Cannot find field.",
             created(displayName="x"), variant="cache"),
        Pair("unknown-name", counted(generateContentRequest=body(system="Be brief.")),
             f"{_UNREAD} Unknown name \"system\" at 'generate_content_request': Cannot find field.",
             counted(generateContentRequest=body(systemInstruction=user("Be brief."))), variant="count"),
        Pair(
            "not-repeating",
            parameters(type=["STRING", "NULL"]),
            f"{_UNREAD} Unknown name \"type\" at '{nested}.properties[0].value': Proto field is not repeating, cannot "
            "start list.",
            parameters(type="STRING", nullable=True),
        ),
        Pair(
            "not-repeating",
            loop({"role": "model", "parts": [call()]}, user(response([1]))),
            f"{_UNREAD} Unknown name \"response\" at 'contents[2].parts[0].functionResponse': Proto field is not "
            "repeating, cannot start list.".replace("functionResponse", "function_response"),
            loop({"role": "model", "parts": [call()]}, user(response({"output": [1]}))),
            variant="response",
        ),
    ]  # fmt: skip


def _types() -> list[Pair]:
    return [
        Pair("wrong-type", Ask({"contents": "Hello"}), f"Invalid value at 'contents' ({_MESSAGES}.Content), \"Hello\"",
             Ask({"contents": {"parts": {"text": "Hello"}}})),
        Pair("wrong-type", vertex(ask(tools=["read_sensor"])),
             "Invalid value at 'tools[0]' (type.googleapis.com/google.cloud.aiplatform.v1beta1.Tool), \"read_sensor\"",
             vertex(declared(TOOL)), variant="vertex"),
        Pair("wrong-type", ask(user({"text": 3})), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 3",
             ask(user({"text": "3"})), variant="string"),
        Pair("wrong-type", ask(user({"text": {"words": "Hello"}})),
             "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), Starting an object on a scalar field",
             ask(user({"text": "Hello"})), variant="object"),
        Pair("wrong-type", loop({"role": "model", "parts": [call()]}, user(response("41 %"))),
             "Invalid value at 'contents[2].parts[0].function_response.response' "
             '(type.googleapis.com/google.protobuf.Struct), "41 %"',
             loop({"role": "model", "parts": [call()]}, user(response({"result": "41 %"}))), variant="response"),
        Pair("wrong-type", parameters(type="dict"),
             "Invalid value at 'tools[0].function_declarations[0].parameters.properties[0].value.type' "
             f'({_MESSAGES}.Type), "dict"', parameters(type="object"), variant="type-of-a-schema"),
        Pair("wrong-type", parameters(type="INTEGER", enum=[1, 2]),
             "Invalid value at 'tools[0].function_declarations[0].parameters.properties[0].value.enum[0]' "
             "(TYPE_STRING), 1\nInvalid value at "
             "'tools[0].function_declarations[0].parameters.properties[0].value.enum[1]' (TYPE_STRING), 2",
             parameters(type="STRING", enum=["1", "2"]), variant="enum"),
        Pair("wrong-type", ask(generationConfig={"temperature": "hot"}),
             "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"hot\"",
             ask(generationConfig={"temperature": "0.5"}), variant="number"),
        Pair("wrong-type", created(ttl="300"),
             "Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration), \"300\"",
             created(ttl="300s"), variant="duration"),
        Pair("wrong-type", created(expireTime="tomorrow"),
             "Invalid value at 'cached_content.expire_time' (type.googleapis.com/google.protobuf.Timestamp), "
             '"tomorrow"', created(expireTime="2030-01-01T00:00:00.123456789Z"), variant="timestamp"),
    ]  # fmt: skip


def _schemas() -> list[Pair]:
    where = "* GenerateContentRequest.tools[0].function_declarations[0].parameters"
    beds: Json = {"type": "ARRAY", "items": {"type": "STRING"}}

    def required(*names: str) -> Ask:
        return declared(TOOL | {"parameters": PARAMETERS | {"required": list(names)}})

    return [
        Pair("schema-required", required("plot"), f"{where}.required[0]: property is not defined\n", required("bed")),
        Pair("schema-required", required("plot", "bed", "row"),
             f"{where}.required[0]: property is not defined\n{where}.required[2]: property is not defined\n",
             required("bed"), variant="several"),
        Pair("schema-items", parameters(type="ARRAY", items={"type": "array"}),
             f"{where}.properties[bed].items.items: missing field.\n", parameters(type="ARRAY", items=beds)),
        Pair("schema-items", parameters(anyOf=[{"type": "ARRAY"}, {"type": "STRING"}]),
             f"{where}.properties[bed].any_of[0].items: missing field.\n",
             parameters(anyOf=[beds, {"type": "STRING"}]), variant="choice"),
        Pair("schema-enum", parameters(type="INTEGER", enum=["1", "2"]),
             f"{where}.properties[bed].enum: only allowed for STRING type\n",
             parameters(type="string", enum=["1", "2"])),
    ]  # fmt: skip


def _target() -> list[Pair]:
    """Of whom, and what."""
    missing: Json = {"status": 404, "kind": "NOT_FOUND"}
    listing = "to see the list of available models and their supported methods."
    oneof = "required oneof field 'data' must have one initialized field"
    illegal_name = (
        "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a "
        "letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or "
        "dashes (-), with a maximum length of 64.\n"
    )
    return [
        Pair("unknown-model", Ask(body(), "/v1/models/nope:generateContent"),
             f"models/nope is not found for API version v1, or is not supported for generateContent. Call "
             f"ModelService.ListModels {listing}", Ask(body(), f"/v1/models/{MODEL}:generateContent"), **missing),
        Pair("unknown-model", Ask(body(), "/v1beta/models/nope:countTokens"),
             f"models/nope is not found for API version v1beta, or is not supported for countTokens. Call ListModels "
             f"{listing}", counted(**body()), **missing, variant="count"),
        Pair("unknown-model", created(model="models/nope"),
             f"models/nope is not found for API version v1beta, or is not supported for createCachedContent. Call "
             f"ListModels {listing}", created(), **missing, variant="cache"),
        Pair("unknown-model", Ask({}, "/v1beta/models/nope", "GET"),
             f"models/nope is not found for API version v1beta, or is not supported for getModel. Call ListModels "
             f"{listing}", Ask({}, f"/v1beta/models/{MODEL}", "GET"), **missing, variant="get"),
        Pair("unknown-model", vertex(Ask(body(), "/v1beta/models/nope:generateContent")),
             f"Publisher Model `{PROJECT}/publishers/google/models/nope` not found.", vertex(ask()), **missing,
             variant="vertex"),
        Pair("nothing-to-count", counted(), "CountTokens requires generate_content_request or contents to be set.",
             counted(generateContentRequest=body())),
        Pair("no-contents", Ask({"contents": []}), "* GenerateContentRequest.contents: contents is not specified\n",
             ask()),
        Pair("no-contents", Ask({"contents": None}), "* GenerateContentRequest.contents: contents is not specified\n",
             ask(), variant="null"),
        Pair("empty-content", ask(user()),
             "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n", ask(user(""))),
        Pair("empty-content", ask(user(), user({})),
             "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n"
             f"* GenerateContentRequest.contents[1].parts[0].data: {oneof}\n", ask(user(""), user("")),
             variant="two-faults"),
        Pair("empty-part", ask(user({})), f"* GenerateContentRequest.contents[0].parts[0].data: {oneof}\n",
             ask(user({"text": ""}))),
        Pair("empty-part", counted(contents=[user({})]), f"* CountTokensRequest.contents[0].parts[0].data: {oneof}\n",
             counted(contents=[user("")]), variant="count"),
        Pair("empty-part", created(contents=[user({"videoMetadata": {}})]),
             f"* CreateCachedContentRequest.cached_content.contents[0].parts[0].data: {oneof}\n", created(),
             variant="cache"),
        Pair("invalid-role", ask({"role": "assistant", "parts": [{"text": "Hello"}]}),
             "Please use a valid role: user, model.", ask({"parts": [{"text": "Hello"}]})),
        Pair("tool-name", declared(TOOL | {"name": "read sensor"}), illegal_name,
             declared(TOOL | {"name": "_a.b:c-1"})),
        Pair("tool-name", declared(TOOL | {"name": "3d"}), illegal_name, declared(TOOL), variant="digit"),
        Pair("duplicate-tool", declared(TOOL, TOOL), "Duplicate function declaration found: read_sensor",
             declared(TOOL, TOOL | {"name": "water"})),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_address(), *_keys(), *_reading(), *_schemas(), *_target())
