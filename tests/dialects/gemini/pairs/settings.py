"""Pairs about settings, managed caches, size, and files."""

from __future__ import annotations

from dataclasses import replace

from ...requests import Json
from ..asks import Ask, Pair, ask, at, cached, configured, counted, created, on_cache, vertex
from ..builders import (
    CACHE,
    DELETED,
    EXPIRED,
    HANDBOOK,
    OF_OLD,
    OLD,
    PROJECT,
    TOOLS,
    UNREACHABLE,
    VERTEX_CACHE,
    response,
    user,
)

_ALONE = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n"
    "Proposed fix: move those values to CachedContent from GenerateContent request."
)
_NO_CACHE = "CachedContent not found (or permission denied)"


def _settings() -> list[Pair]:
    def hot(temperature: float) -> str:
        return (
            f"Unable to submit request because it has a temperature value of {temperature} but the supported range is "
            "from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
        )

    def beyond(name: str, value: float, end: int) -> str:
        return (
            f"Unable to submit request because it has a {name} value of {value} but the supported range is from 1 "
            f"(inclusive) to {end} (exclusive). Update the value and try again."
        )

    six = ["a", "b", "c", "d", "e", "f"]
    wants_json: Json = {"generationConfig": {"responseMimeType": "application/json"}}
    return [
        Pair("temperature", configured(temperature=1000), hot(1000), configured(temperature=2)),
        Pair("temperature", configured(temperature=-0.1), hot(-0.1), configured(temperature=0), variant="negative"),
        Pair("setting-range", configured(topK=0), beyond("topK", 0, 65), configured(topK=1)),
        Pair("setting-range", configured(maxOutputTokens=0), beyond("maxOutputTokens", 0, 65_537),
             configured(maxOutputTokens=1), variant="no-output"),
        Pair("setting-range", configured(maxOutputTokens=65_537), beyond("maxOutputTokens", 65_537, 65_537),
             configured(maxOutputTokens=65_536), variant="too-much-output"),
        Pair("stop-sequences", configured(stopSequences=six * 2),
             beyond("stopSequences", 12, 6), configured(stopSequences=six[:5])),
        Pair("stop-sequences", configured(stopSequences=[*six, "g", "h", "i", "j"]), beyond("stopSequences", 10, 6),
             configured(stopSequences=[]), variant="ten"),
        Pair("json-with-tools", at(OLD, ask(tools=TOOLS, **wants_json)),
             "Function calling with a response mime type: 'application/json' is unsupported",
             ask(tools=TOOLS, **wants_json)),
        Pair("json-with-tools", at(OLD, cached(OF_OLD, **wants_json)),
             "Function calling with a response mime type: 'application/json' is unsupported",
             at(OLD, ask(tools=[{"googleSearch": {}}], **wants_json)), variant="from-a-cache"),
    ]  # fmt: skip


def _caching() -> list[Pair]:
    denied: Json = {"status": 403, "kind": "PERMISSION_DENIED"}
    other = (
        "Model used by GenerateContent request (models/gemini-3-flash-preview) and CachedContent "
        "(models/gemini-2.5-flash) has to be the same."
    )
    at_vertex = Ask(
        {"model": f"{PROJECT}/publishers/google/models/{OLD}", "contents": [user("Too short.")]},
        f"/v1beta1/{PROJECT}/cachedContents",
    )
    return [
        Pair("cache-gone", cached(EXPIRED), _NO_CACHE, cached(), **denied),
        Pair("cache-gone", cached(DELETED), _NO_CACHE, cached(), **denied, variant="deleted"),
        Pair("cache-gone", cached("cachedContents/none"), _NO_CACHE, cached(), **denied, variant="unknown"),
        Pair("cache-gone", vertex(cached(CACHE + "x")), _NO_CACHE, vertex(cached(VERTEX_CACHE)), **denied,
             variant="vertex"),
        Pair("cache-gone", counted(generateContentRequest={"contents": [user("Hello")], "cachedContent": EXPIRED}),
             _NO_CACHE, counted(generateContentRequest={"contents": [user("Hello")], "cachedContent": CACHE}), **denied,
             variant="count"),
        *(
            Pair("cache-gone", on_cache(DELETED, method), _NO_CACHE, on_cache(CACHE, method), **denied, variant=method)
            for method in ("GET", "PATCH", "DELETE")
        ),
        Pair("cache-and-settings", cached(systemInstruction=user("Be brief.")), _ALONE, cached()),
        Pair("cache-and-settings", cached(tools=TOOLS), _ALONE, cached(tools=[]), variant="tools"),
        Pair("cache-and-settings", cached(toolConfig={"functionCallingConfig": {"mode": "NONE"}}), _ALONE,
             cached(generationConfig={"temperature": 0}), variant="tool-config"),
        Pair("cache-of-other-model", cached(OF_OLD), other, at(OLD, cached(OF_OLD))),
        Pair("cache-too-small", created("Too short."),
             "Cached content is too small. total_token_count=4, min_total_token_count=1024", created()),
        Pair("cache-too-small", at_vertex,
             "The cached content is of 4 tokens. The minimum token count to start caching is 1024.",
             replace(at_vertex, body=at_vertex.body | {"contents": [user(HANDBOOK)]}), variant="vertex"),
    ]  # fmt: skip


def _size() -> list[Pair]:
    page = {"fileData": {"mimeType": "text/html", "fileUri": UNREACHABLE}}
    reachable = {"fileData": {"mimeType": "text/html", "fileUri": "https://garden.example/here"}}
    robots = (
        "Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI. "
        "Vertex AI respects robots.txt rules, so confirm the URL is allowed to be crawled. Status: "
        "URL_ROBOTED-ROBOTED_DENIED"
    )
    denied: Json = {"status": 403, "kind": "PERMISSION_DENIED"}
    inside = user(response(parts=[page]))
    contents = [user("Look."), {"role": "model", "parts": [{"functionCall": {"name": "read_sensor"}}]}]
    return [
        Pair("too-many-tokens", ask(user("a" * 4 * 1_048_576)),
             "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
             ask(user("a" * 4 * 1_048_575))),
        Pair("unreachable-file", vertex(ask(user(page))), robots, vertex(ask(user(reachable))), variant="vertex"),
        Pair("unreachable-file", ask(user(page)),
             "You do not have permission to access the File gone or it may not exist.", ask(user(reachable)), **denied),
        Pair("unreachable-file", at(OLD, ask(*contents, inside)),
             "You do not have permission to access the File gone or it may not exist.",
             at(OLD, ask(*contents, user(response(parts=[reachable])))), **denied, variant="in-a-response"),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_settings(), *_caching(), *_size())
