"""Pairs about addresses, keys, and the shape of bodies."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.openai_chat.surfaces import Surface

from ...requests import Json
from ..asks import Ask, Pair, ask, body, loop, without
from ..builders import KEY, MODEL, OPENING, assistant, call, image, result, tool, user

_NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API "
    "from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)
_ACCESS_DENIED = (
    "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an "
    "active subscription and use a correct regional API endpoint for your resource."
)
_NOT_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
    "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
    "figuring out how to fix this, please contact us through our help center at help.openai.com.)"
)
_ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"


def _addresses() -> list[Pair]:
    found: Json = {"status": 404}
    return [
        Pair("not-found", Ask(body(), path="/v1/chat"), "Invalid URL (POST /v1/chat)", ask(), **found),
        Pair("not-found", Ask(body(), path="/openai/chat", surface=Surface.AZURE), "Resource not found",
             ask(surface=Surface.AZURE), 404, "404", variant="azure"),
        Pair("not-found", Ask(body(), path="/v1/chat", surface=Surface.OLLAMA), "404 page not found",
             ask(surface=Surface.OLLAMA), 404, "not_found_error", variant="ollama"),
        Pair("zai-route", Ask(body(), path="/api/paas/v4/chat", surface=Surface.ZAI), "404 NOT_FOUND",
             ask(surface=Surface.ZAI), 200, "500", enforced=False),
        Pair("method", Ask(method="GET"), "Not allowed to GET on /v1/chat/completions.", ask(), 405,
             enforced=False),
    ]  # fmt: skip


def _keys() -> list[Pair]:
    def other(surface: Surface, **headers: str | None) -> Ask:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Ask(body(surface=surface), headers=named, surface=surface)

    bearer = "Bearer wrong"
    return [
        Pair("missing-key", other(Surface.OPENAI, authorization=None), _NO_KEY, ask(), 401),
        Pair("bad-key", other(Surface.OPENAI, authorization=bearer),
             "Incorrect API key provided: ***. You can find your API key at "
             "https://platform.openai.com/account/api-keys.", ask(), 401, "invalid_api_key"),
        Pair("azure-key", other(Surface.AZURE, api_key="wrong"), _ACCESS_DENIED,
             other(Surface.AZURE, api_key=None, authorization=f"Bearer {KEY}"), 401, "401"),
        Pair("azure-version", Ask(body(), query={}, surface=Surface.AZURE), "Resource not found",
             ask(surface=Surface.AZURE), 404, "404"),
        Pair("github-key", other(Surface.GITHUB, authorization=bearer),
             "The `models` permission is required to access this endpoint", ask(surface=Surface.GITHUB), 401,
             "unauthorized"),
        Pair(
            "copilot-key",
            Ask(
                method="GET",
                path="/copilot_internal/v2/token",
                headers={"authorization": "token wrong"},
                surface=Surface.COPILOT,
            ),
            "Bad credentials",
            Ask(
                method="GET",
                path="/copilot_internal/v2/token",
                headers={"authorization": f"token {KEY}"},
                surface=Surface.COPILOT,
            ),
            401,
            "unauthorized",
        ),
        Pair("copilot-token", other(Surface.COPILOT, authorization=f"Bearer {KEY}"), "unauthorized: token expired",
             ask(surface=Surface.COPILOT), 401, "unauthorized"),
        Pair("copilot-editor", other(Surface.COPILOT, editor_version=None),
             "bad request: missing Editor-Version header for IDE auth", ask(surface=Surface.COPILOT),
             kind="bad_request"),
        Pair("zai-key", other(Surface.ZAI, authorization=bearer), "Authentication Failed", ask(surface=Surface.ZAI),
             401, "1000"),
    ]  # fmt: skip


def _shape() -> list[Pair]:
    typed: Json = {"kind": "invalid_type"}
    return [
        Pair("malformed-json", Ask(raw=b'{"model": '), _NOT_JSON, ask()),
        Pair("malformed-json", Ask(raw=b"[1]"), _NOT_JSON, ask(), variant="no-object"),
        Pair("malformed-json", Ask(raw=b"[" * 20_000), _NOT_JSON, ask(), variant="too-deep"),
        Pair("missing-model", without("model"), "you must provide a model parameter", ask()),
        Pair("missing-field", without("messages"), "Missing required parameter: 'messages'.", ask(),
             kind="missing_required_parameter", param="messages"),
        Pair("missing-field", ask(tools=[{"type": "function", "function": {"description": "Read"}}]),
             "Missing required parameter: 'tools[0].function.name'.", ask(tools=[tool()]),
             kind="missing_required_parameter", param="tools[0].function.name", variant="tool-name"),
        Pair("invalid-type", ask(user({"text": "How moist?"})),
             "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object "
             "instead.", ask(user([{"type": "text", "text": "How moist?"}])), **typed, param="messages[0].content"),
        Pair("invalid-type", ask(messages="How moist is bed 3?"),
             "Invalid type for 'messages': expected an array of objects, but got a string instead.", ask(), **typed,
             param="messages", variant="messages"),
        Pair("invalid-type", ask(user(["How moist?"])),
             "Invalid type for 'messages[0].content[0]': expected an object, but got a string instead.",
             ask(user("How moist?")), **typed, param="messages[0].content[0]", variant="block"),
        Pair("invalid-type", ask(user("Hi"), assistant(None, call() | {"function": "read"})),
             "Invalid type for 'messages[1].tool_calls[0].function': expected an object, but got a string instead.",
             loop(result()), **typed, param="messages[1].tool_calls[0].function", variant="call"),
        Pair("invalid-type", ask(model=4), "Invalid type for 'model': expected a string, but got an integer instead.",
             ask(model=MODEL), **typed, param="model", variant="model"),
        Pair("invalid-role", ask({"role": "bot", "content": "Hello"}),
             f"Invalid value: 'bot'. Supported values are: {_ROLES}.", ask({"role": "assistant", "content": "Hello"}),
             kind="invalid_value", param="messages[0].role"),
    ]  # fmt: skip


def _at_ollama() -> list[Pair]:
    """What Ollama's middleware says of a body."""
    ollama = Surface.OLLAMA
    legal = ask(surface=ollama)
    pictures = "data:image/png;base64,"

    def bare(**more: Any) -> Ask:
        return Ask(more, surface=ollama)

    def shown(url: str) -> Ask:
        return ask(user([image(url)]), surface=ollama)

    def calling(arguments: str) -> Ask:
        return ask(OPENING, assistant("", call(arguments=arguments)), result(), surface=ollama)

    return [
        Pair("ollama-unreadable-body", Ask(raw=b'{"model": ', surface=ollama),
             "invalid character in the body: it is no JSON object", legal),
        Pair("ollama-unreadable-body", ask(surface=ollama, messages="How moist?"),
             "json: cannot unmarshal string into Go struct field ChatCompletionRequest.messages of type []struct",
             legal, variant="type"),
        Pair("ollama-missing-model", bare(messages=[OPENING]), "model is required", legal),
        Pair("ollama-missing-messages", bare(model="qwen3"), "[] is too short - 'messages'", legal),
        Pair("ollama-missing-messages", bare(model="qwen3", messages=[]), "[] is too short - 'messages'", legal,
             variant="empty"),
        Pair("ollama-content", ask(user(None), surface=ollama), "invalid message content type: <nil>",
             ask(OPENING, assistant(None, call()), result(), surface=ollama)),
        Pair("ollama-content", ask(user({"text": "How moist?"}), surface=ollama),
             "invalid message content type: map[string]interface {}", ask(user("How moist?"), surface=ollama),
             variant="object"),
        Pair("ollama-content", ask(user([{"type": "file", "file": {"file_id": "file_1"}}]), surface=ollama),
             "invalid message format", ask(user([{"type": "text", "text": "How moist?"}]), surface=ollama),
             variant="block"),
        Pair("ollama-content", shown(f"{pictures}!!!"), "invalid message format", shown(f"{pictures}iVBORw0KGgo="),
             variant="base64"),
        Pair("ollama-image", shown("https://garden.example/here.png"), "invalid image input",
             shown("data:;base64,iVBORw0KGgo=")),
        Pair("ollama-arguments", calling("3"), "invalid tool call arguments", calling("{}")),
    ]  # fmt: skip


def _models() -> list[Pair]:
    def of(surface: Surface) -> tuple[Ask, Ask]:
        return ask(surface=surface, model="gpt-9"), ask(surface=surface)

    deployment = Ask(body(), path="/openai/deployments/mine/chat/completions", surface=Surface.AZURE)
    unknown, legal = of(Surface.OPENAI)
    on_github, on_copilot, on_zai, on_ollama = map(of, (Surface.GITHUB, Surface.COPILOT, Surface.ZAI, Surface.OLLAMA))
    return [
        Pair("unknown-model", unknown, "The model `gpt-9` does not exist or you do not have access to it.", legal, 404,
             "model_not_found"),
        Pair("unknown-model", ask(model="glm-4.7"),
             "The model `glm-4.7` does not exist or you do not have access to it.", legal, 404, "model_not_found",
             variant="of-another-service"),
        Pair("withdrawn-model", ask(model="gpt-3.5-turbo-0613"),
             "The model `gpt-3.5-turbo-0613` has been deprecated, learn more here: "
             "https://platform.openai.com/docs/deprecations", ask(model="gpt-3.5-turbo"), 404, "model_not_found"),
        Pair("azure-deployment", deployment,
             "The API deployment for this resource does not exist. If you created the deployment within the last 5 "
             "minutes, please wait a moment and try again.", ask(surface=Surface.AZURE), 404, "DeploymentNotFound"),
        Pair("github-model", on_github[0], "Unknown model: gpt-9", on_github[1], 404, "unknown_model"),
        Pair("copilot-model", on_copilot[0], "The requested model is not supported.", on_copilot[1], 400,
             "model_not_supported"),
        Pair("zai-model", on_zai[0], "Unknown Model, please check the model code.", on_zai[1], kind="1211"),
        Pair("ollama-model", on_ollama[0], "model 'gpt-9' not found", on_ollama[1], 404, "not_found_error"),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_addresses(), *_keys(), *_shape(), *_at_ollama(), *_models())
