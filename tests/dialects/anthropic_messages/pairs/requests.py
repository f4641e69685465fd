"""Pairs about headers, addresses and the shape of bodies."""

from __future__ import annotations

from ...requests import Json
from ..asks import Ask, Pair, ask, body, counted, loop, new_version, without
from ..builders import KEY, MODEL, NEWEST, OPENING, TOOL, assistant, call, image, result, text, user

_EXTRA = "Extra inputs are not permitted"
_PDF: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
_FILE: Json = {"type": "file", "file_id": "file_011CYiV4"}
_PNG: Json = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_CITATION: Json = {
    "type": "char_location",
    "cited_text": "a",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 1,
}


def _headers() -> list[Pair]:
    auth: Json = {"status": 401, "kind": "authentication_error"}
    return [
        Pair("missing-key", Ask(body(), headers={"x-api-key": None}), "x-api-key header is required", ask(), **auth),
        Pair("bad-key", Ask(body(), headers={"x-api-key": "wrong"}), "invalid x-api-key", ask(), **auth),
        Pair("bad-bearer", Ask(body(), headers={"x-api-key": None, "authorization": "Bearer wrong"}),
             "Invalid bearer token", Ask(body(), headers={"x-api-key": None, "authorization": f"Bearer {KEY}"}),
             **auth),
        Pair("missing-version", Ask(body(), headers={"anthropic-version": None}),
             "anthropic-version: header is required", ask()),
        Pair("unknown-beta",
             Ask(body(), headers={"anthropic-beta": "prompt-caching-2024-07-31,no-such-beta-2025-01-01"}),
             "Unexpected value(s) `no-such-beta-2025-01-01` for the `anthropic-beta` header. Please consult our "
             "documentation at docs.anthropic.com or try again without the header.",
             Ask(body(), headers={"anthropic-beta": "prompt-caching-2024-07-31,interleaved-thinking-2025-05-14"}),
             enforced=False),
        Pair("content-type", Ask(body(), headers={"content-type": "text/plain"}),
             "content-type: application/json is required", ask(), enforced=False),
        Pair("not-found", Ask(body(), path="/v1/mesages"), "Not Found", ask(), 404, "not_found_error"),
        Pair("method-not-allowed", Ask(method="GET", headers={"content-type": None}), "Method Not Allowed", ask(), 405),
    ]  # fmt: skip


def _members() -> list[Pair]:
    """Members that there are not, of what stands below the body."""
    auto: Json = {"type": "auto"}
    adaptive: Json = {"type": "adaptive"}
    effort: Json = {"effort": "high"}
    return [
        Pair("extra-field", ask(tools=[TOOL], tool_choice=auto | {"mode": "required"}),
             f"tool_choice.auto.mode: {_EXTRA}", ask(tools=[TOOL], tool_choice=auto), variant="tool-choice"),
        Pair("extra-field", ask(tools=[TOOL], tool_choice=auto | {"colour": "green"}),
             f"tool_choice.auto.colour: {_EXTRA}", ask(tools=[TOOL], tool_choice=auto), variant="unlisted-member",
             enforced=False),
        Pair("extra-field", ask(model=NEWEST, thinking=adaptive | {"budget_tokens": 1024}),
             f"thinking.adaptive.budget_tokens: {_EXTRA}", ask(model=NEWEST, thinking=adaptive), variant="thinking"),
        Pair("extra-field", ask(metadata={"user_id": "gardener", "session_id": "7"}),
             f"metadata.session_id: {_EXTRA}", ask(metadata={"user_id": "gardener"}), variant="metadata"),
        Pair("extra-field", ask(model=NEWEST, output_config=effort | {"verbosity": "low"}),
             f"output_config.verbosity: {_EXTRA}", ask(model=NEWEST, output_config=effort), variant="output-config"),
        Pair("extra-field", ask(user(image(_PNG | {"detail": "high"}))),
             f"messages.0.content.0.image.source.base64.detail: {_EXTRA}", ask(user(image(_PNG))), variant="source"),
    ]  # fmt: skip


def _images() -> list[Pair]:
    where = "messages.0.content.0.image.source.base64"
    png = _PNG["data"]
    return [
        Pair("image-data", ask(user(image(_PNG | {"data": "!!!"}))), f"{where}: invalid base64 data",
             ask(user(image(_PNG)))),
        Pair("image-data", ask(user(image(_PNG | {"data": f"data:image/png;base64,{png}"}))),
             f"{where}: invalid base64 data", ask(user(image(_PNG))), variant="data-url"),
        Pair("image-data", loop(result(content=[image(_PNG | {"data": "!!!"})])),
             "messages.2.content.0.tool_result.content.0.image.source.base64: invalid base64 data",
             loop(result(content=[image(_PNG)])), variant="in-result"),
        Pair("image-data", ask(user(image(_PNG | {"data": ""}))), f"{where}: image cannot be empty",
             ask(user(image(_PNG))), variant="empty"),
        Pair("image-media-type", ask(user(image(_PNG | {"media_type": "image/svg+xml", "data": "PHN2Zy8+"}))),
             f"{where}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
             ask(user(image(_PNG)))),
        Pair("image-type", ask(user(image(_PNG | {"data": "/9j/4AAQSkZJRg=="}))),
             f"{where}.data: Image does not match the provided media type image/png",
             ask(user(image(_PNG | {"media_type": "image/jpeg", "data": "/9j/4AAQSkZJRg=="}))), enforced=False),
    ]  # fmt: skip


def _shape() -> list[Pair]:
    return [
        Pair("malformed-json", Ask(raw=b"[1, 2"), "The request body is not valid JSON: Input data was truncated",
             ask()),
        Pair("malformed-body", ask(model=4), "model: Input should be a valid string", ask()),
        Pair("malformed-body", ask({"role": "tool", "content": "x"}),
             "messages.0.role: Input should be 'user', 'assistant' or 'system'", ask(), variant="role"),
        Pair("malformed-body", ask(user(text(7))), "messages.0.content.0.text.text: Input should be a valid string",
             ask(user(text("7"))), variant="text"),
        Pair("missing-field", without("max_tokens"), "max_tokens: Field required", ask()),
        Pair("missing-field", without("messages"), "messages: Field required", ask(), variant="messages"),
        Pair("missing-field", ask(user({"type": "tool_result"})),
             "messages.0.content.0.tool_result.tool_use_id: Field required", loop(result()), variant="nested"),
        Pair("extra-field", ask(stop="."), f"stop: {_EXTRA}", ask(metadata={"user_id": "gardener"})),
        Pair("extra-field", ask(user(text("Hello", parsed=1))), f"messages.0.content.0.text.parsed: {_EXTRA}",
             ask(user(text("Hello"))), variant="block"),
        Pair("extra-field", ask(colour="green"), f"colour: {_EXTRA}", ask(), variant="unlisted", enforced=False),
        *_members(),
        Pair("extra-field", ask({**OPENING, "name": "Ann"}), f"messages.0.name: {_EXTRA}", ask(), variant="message"),
        Pair("extra-field", ask(tools=[TOOL | {"parameters": {}}]), f"tools.0.custom.parameters: {_EXTRA}",
             ask(tools=[TOOL | {"strict": True}]), variant="tool"),
        *[
            Pair("count-tokens-field", counted(**{name: value}), f"{name}: {_EXTRA}", counted(), variant=name)
            for name, value in {
                "max_tokens": 256,
                "metadata": {},
                "stop_sequences": ["END"],
                "stream": False,
                "temperature": 1,
                "top_k": 5,
                "top_p": 0.9,
                "service_tier": "auto",
                "container": "container_1",
            }.items()
        ],
        Pair(
            "source-tag",
            ask(user(image(_FILE))),
            "messages.0.content.0.image.source: Input tag 'file' found using 'type' does not match any of the expected "
            "tags: 'base64', 'url'",
            ask(user(image(_PNG))),
        ),
        Pair(
            "source-tag",
            loop(result(content=[{"type": "document", "source": _FILE}])),
            "messages.2.content.0.tool_result.content.0.document.source: Input tag 'file' found using 'type' does not "
            "match any of the expected tags: 'base64', 'content', 'text', 'url'",
            Ask(
                loop(result(content=[{"type": "document", "source": _FILE}])).body,
                headers={"anthropic-beta": "files-api-2025-04-14"},
            ),
            variant="in-result",
        ),
        Pair("call-id-pattern", ask(OPENING, assistant(call("call.1")), user(result("call.1"))),
             "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
             ask(OPENING, assistant(call("call-1")), user(result("call-1")))),
        Pair("tool-name-pattern", ask(tools=[TOOL | {"name": "sensor.read"}]),
             "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", ask(tools=[TOOL])),
        Pair("too-many-messages", ask(*[OPENING] * 100_001),
             "messages: List should have at most 100000 items after validation, not 100001", ask(*[OPENING] * 1_000)),
        *[
            Pair(
                "removed-sampling",
                new_version(**{name: value}),
                f"{name}: {_EXTRA}",
                ask(**{name: value}),
                variant=name,
            )
            for name, value in {"temperature": 1, "top_p": 1, "top_k": 5}.items()
        ],
        Pair("assistant-document", new_version(OPENING, assistant(_PDF), user("Thanks")),
             "messages.1.content.0: document blocks are not permitted in assistant messages", new_version(user(_PDF))),
        Pair("user-citations", new_version(user(text("It says a.", citations=[_CITATION]))),
             "messages.0.content.0.text.citations: citations are not permitted in user text blocks",
             new_version(user(text("It says a.", citations=[])))),
        Pair("unknown-model", ask(model="claude-sonet-4-5"), "model: claude-sonet-4-5", ask(), 404, "not_found_error"),
        Pair("unknown-model", Ask({"model": "claude-sonet-4-5", "messages": [OPENING]}, "/v1/messages/count_tokens"),
             "model: claude-sonet-4-5", counted(), 404, "not_found_error", variant="count"),
        Pair("unknown-model", Ask(method="GET", path="/v1/models/claude-sonet-4-5"), "model: claude-sonet-4-5",
             Ask(method="GET", path=f"/v1/models/{MODEL}"), 404, "not_found_error", variant="get"),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_headers(), *_shape(), *_images())
