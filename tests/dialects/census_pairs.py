"""The pairs of refusals as plain HTTP data, for the census: `python -m tests.dialects --write`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from turnproof.dialects.base import Call, HttpRequest, World
from turnproof.dialects.contract import Dialect
from turnproof.dialects.openai_responses.surfaces import Surface, surface_of
from turnproof.wire.cassettes.recording_proxy import AUTHENTICATION

from .refusals import Pair, RefusalKit
from .test_refusals import KITS

LARGEST: Final = 20_000
"""Bytes of a request that a contributor pays for; a larger one is not sent."""

LIMITS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic-messages": ("max_tokens=1",),
    "gemini": ("generationConfig.maxOutputTokens=1",),
    "gemini-interactions": ("generation_config.max_output_tokens=1",),
    "ollama": ("options.num_predict=1",),
    "openai-chat": ("max_completion_tokens=16", "max_tokens=1"),
    "openai-responses": ("max_output_tokens=16",),
    "zai": ("max_tokens=1",),
}
"""How an answer is kept short: settings to try, in order. OpenAI takes no limit below 16 for a model that thinks."""

PRIVATE: Final = ("antigravity",)
"""APIs without a public key: nobody can ask them."""


def census_kits() -> list[RefusalKit[Any]]:
    """The tables of the APIs that anybody with a key can ask."""
    return [kit for kit in KITS if kit.name not in PRIVATE]


def data_of(kit: RefusalKit[Any]) -> dict[str, Any]:
    """The pairs that can be sent, and why others cannot."""
    sent, left_out = [], {}
    for pair in kit.pairs:
        reason = _why_not(kit, pair)
        if reason:
            left_out[pair.id] = reason
        else:
            sent.append(_entry(kit, pair))
    return {"dialect": kit.name, "pairs": sent, "left_out": dict(sorted(left_out.items()))}


def file_of(kit: RefusalKit[Any]) -> Path:
    """Where the data of a dialect is kept."""
    package = type(kit.dialect).__module__.rpartition(".")[0]
    return Path(str(resources.files(package))) / "pairs.json"


def text_of(kit: RefusalKit[Any]) -> str:
    """The file's text, a pair a line."""
    data = data_of(kit)
    pairs = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in data["pairs"])
    left_out = json.dumps(data["left_out"], ensure_ascii=False, indent=1)
    return f'{{"dialect": "{data["dialect"]}", "pairs": [\n{pairs}\n],\n"left_out": {left_out}}}\n'


def _why_not(kit: RefusalKit[Any], pair: Pair[Any]) -> str:
    illegal, legal = pair.illegal.request(), pair.legal.request()
    if _keys(illegal) != _keys(legal) or "key" in legal.query:
        return "it is about the key"
    if kit.name == "openai-responses" and surface_of(legal, Surface.OPENAI) is Surface.COPILOT:
        return "Copilot answers it, and takes another key"
    if max(len(illegal.body), len(legal.body)) > LARGEST:
        return "the request is huge"
    if not _is_utf8(illegal.body):
        return "the body is no text"
    call = kit.dialect.parse(legal, _new_world(kit.dialect))
    if not isinstance(call, Call) or call.operation == "authenticate":
        return "it needs something that the service has issued or stored"
    if any(one.enforced for one in kit.dialect.validate(legal, call, _new_world(kit.dialect))):
        return "it needs something that the service has issued or stored"
    return ""


def _keys(request: HttpRequest) -> dict[str, str]:
    headers = {name: value for name, value in request.headers.items() if name in AUTHENTICATION}
    return headers | {name: value for name, value in request.query.items() if name == "key"}


def _new_world(dialect: Dialect) -> World:
    return World.with_any_key(dialect.models)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _entry(kit: RefusalKit[Any], pair: Pair[Any]) -> dict[str, Any]:
    illegal, legal = pair.illegal.request(), pair.legal.request()
    for limit in LIMITS[kit.name]:
        short = _limited(illegal, limit), _limited(legal, limit)
        if _is_the_same_pair(kit, pair, *short):
            illegal, legal = short
            break
    surface = getattr(pair.illegal, "surface", None)
    entry = {
        "rule": pair.rule,
        "variant": pair.variant,
        "surface": str(surface.value) if surface is not None else "",
        "status": pair.status,
        "kind": pair.kind,
        "message": pair.message,
        "enforced": pair.enforced,
        "illegal": _request(illegal),
        "legal": _request(legal),
    }
    return {name: value for name, value in entry.items() if value != ""}


def _is_the_same_pair(kit: RefusalKit[Any], pair: Pair[Any], illegal: HttpRequest, legal: HttpRequest) -> bool:
    """Whether the requests still show the rule with a short answer, and nothing else."""
    refused = list(_refusals(kit.dialect, illegal))
    return refused[:1] == [f"{kit.name}/{pair.rule}"] and not any(_enforced(kit.dialect, legal))


def _refusals(dialect: Dialect, request: HttpRequest) -> Iterator[str]:
    call = dialect.parse(request, _new_world(dialect))
    if not isinstance(call, Call):
        yield call.rule.id
        return
    yield from (one.rule.id for one in dialect.validate(request, call, _new_world(dialect)))


def _enforced(dialect: Dialect, request: HttpRequest) -> Iterator[str]:
    call = dialect.parse(request, _new_world(dialect))
    found = dialect.validate(request, call, _new_world(dialect)) if isinstance(call, Call) else [call]
    yield from (one.rule.id for one in found if one.enforced)


def _limited(request: HttpRequest, limit: str) -> HttpRequest:
    """The request with a limit of the answer's length, where its body is an object that has none."""
    path, _, number = limit.partition("=")
    *parents, name = path.split(".")
    try:
        body = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, RecursionError):
        return request
    place = body
    for parent in parents:
        if not isinstance(place, dict) or not isinstance(place.setdefault(parent, {}), dict):
            return request
        place = place[parent]
    if not isinstance(place, dict) or ("messages" not in body and "contents" not in body and "input" not in body):
        return request
    place[name] = int(number)
    return HttpRequest(request.method, request.path, request.query, request.headers, msgspec.json.encode(body))


def _request(request: HttpRequest) -> dict[str, Any]:
    headers = {name: "[key]" if name in AUTHENTICATION else value for name, value in request.headers.items()}
    try:
        body = {"json": msgspec.json.decode(request.body)} if request.body else {}
    except (msgspec.DecodeError, RecursionError):
        body = {"text": request.body.decode()}
    query = {"query": dict(request.query)} if request.query else {}
    return {"method": request.method, "path": request.path, **query, "headers": headers, **body}


def update(*, write: bool) -> list[Path]:
    """The files that were out of date; with `write` they no longer are."""
    stale = [kit for kit in census_kits() if not _is_fresh(kit)]
    for kit in stale if write else ():
        file_of(kit).write_text(text_of(kit), encoding="utf-8")
    return [file_of(kit) for kit in stale]


def _is_fresh(kit: RefusalKit[Any]) -> bool:
    return file_of(kit).exists() and file_of(kit).read_text(encoding="utf-8") == text_of(kit)
