"""Operations that no script speaks of: token counts, the model list, managed caches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON, Text, ToolResult
from ..base import Call, ModelFacts, PromptUsage, Rendered, World
from . import caches
from .errors import render_refusal
from .models import RETIRED, THINKS
from .surfaces import GeminiCall, Surface
from .validate.caching import cache_not_found
from .validate.contents import unknown_model
from .writing import JSON_HEADERS, body_event


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `count_tokens`, `list_models`, `get_model` or an operation on caches, which is then done."""
    call = GeminiCall.from_call(call)
    match call.operation:
        case "count_tokens":
            body: JSON = _count(call, usage)
        case "list_models":
            body = _listing(call, world.models)
        case "cache":
            done = _on_cache(call, usage, world, seed)
            if done is None:
                return render_refusal(cache_not_found(), seed)
            body = done
        case _:
            facts = world.models.get(call.model or "")
            if facts is None:
                return render_refusal(unknown_model(call), seed)
            body = _model(facts, call)
    return Rendered(200, JSON_HEADERS, (body_event(body),))


def _count(call: GeminiCall, usage: PromptUsage) -> JSON:
    cached = {"cachedContentTokenCount": usage.cache_read} if call.resource and usage.cache_read else {}
    characters = {"totalBillableCharacters": _characters(call)} if call.surface is Surface.VERTEX else {}
    details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.whole}]}
    return {"totalTokens": usage.whole, **characters, **cached, **details}


def _characters(call: GeminiCall) -> int:
    """What Vertex counts beside tokens: characters that are not blank. Of tools only names and descriptions count."""
    texts = [part.text for part in call.system if isinstance(part, Text)]
    texts += [text for tool in call.tools for text in (tool.name, tool.description)]
    for message in call.messages:
        texts += [part.text for part in message.parts if isinstance(part, Text)]
        texts += [str(part.result) for part in message.parts if isinstance(part, ToolResult)]
    return sum(not character.isspace() for text in texts for character in text)


def _on_cache(call: GeminiCall, usage: PromptUsage, world: World, seed: str) -> JSON:
    """What the operation gives; None where the cache that it is about is gone."""
    if call.action == "create":
        return caches.create(call, usage.whole, world, seed)
    if call.action == "list":
        return caches.list_caches(call, world)
    found = caches.find_cache(world, call.resource)
    if found is None:
        return None
    match call.action:
        case "update":
            return caches.update(found, call, world)
        case "delete":
            return caches.delete(found, world)
        case _:
            return caches.cache_entry(found, call)


def _listing(call: GeminiCall, models: Mapping[str, ModelFacts]) -> JSON:
    entries = [_model(facts, call) for facts in models.values() if RETIRED not in facts.features]
    return {"publisherModels" if call.surface is Surface.VERTEX else "models": entries}


def _model(facts: ModelFacts, call: GeminiCall) -> dict[str, Any]:
    if call.surface is Surface.VERTEX:
        return {"name": f"publishers/google/models/{facts.id}", "versionId": "default", "launchStage": "GA"}
    return {
        "name": f"models/{facts.id}",
        "version": "001",
        "displayName": " ".join(word.capitalize() for word in facts.id.split("-")),
        "inputTokenLimit": facts.context_tokens,
        "outputTokenLimit": facts.max_output_tokens,
        "supportedGenerationMethods": ["generateContent", "countTokens", "createCachedContent", "batchGenerateContent"],
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        **({"thinking": True} if THINKS in facts.features else {}),
    }
