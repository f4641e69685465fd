"""What the judgement of recordings has to know of each API."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from turnproof.dialects import anthropic_messages, gemini, gemini_interactions, ollama, openai_chat, openai_responses
from turnproof.dialects.base import ModelFacts, Refusal, Rule, WireAnswer, World
from turnproof.dialects.contract import Dialect
from turnproof.dialects.openai_chat.surfaces import ChatCall, Surface

from .material import Exchange, Recording, recordings


@dataclass(frozen=True)
class Api:
    """One API. `name` is the one that recordings give it.

    `kept_out` are headers that recorders filter out of every request, put back by host; `from_outside` says that an
    error came from the world outside; `missing_ground` why a recording cannot tell whether a decision is right (empty
    where it can). `takes` says which exchanges are with this API, where several share the recordings' name for it.
    `granted` gives the models that only the recorded customer has, `outside_kinds` the errors from the world outside
    that have a kind of their own.
    """

    name: str
    dialect: Dialect
    kept_out: Callable[[str], Mapping[str, str]]
    from_outside: Callable[[WireAnswer], bool]
    missing_ground: Callable[[Exchange, Refusal | None, WireAnswer], str]
    takes: Callable[[Exchange], bool] = lambda exchange: True
    granted: Callable[[Dialect, Recording], Mapping[str, ModelFacts]] = lambda dialect, recording: {}
    outside_kinds: frozenset[str] = frozenset()

    def recordings(self, folder: Path) -> Iterator[Recording]:
        """All that was recorded of this API, the mixed recordings included, in a fixed order."""
        for recording in recordings(folder, self.name, self.kept_out):
            exchanges = tuple(filter(self.takes, recording.exchanges))
            if exchanges:
                yield Recording(recording.name, exchanges)


_ISSUED_BEFORE = "accepted with a signature that was issued before the recording began"


# -- Anthropic

_TOO_LONG = re.compile(r"prompt is too long: (\d+) tokens")
_ENVIRONMENTAL = {"authentication_error", "rate_limit_error", "overloaded_error", "api_error", "timeout_error"}


def _is_refused_by_us_alone(ours: Refusal | None, answer: WireAnswer, *rules: Rule) -> bool:
    """Whether the service accepted what we refuse by one of these rules."""
    return answer.error_kind is None and ours is not None and ours.rule in rules


def _anthropic_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    too_long = _TOO_LONG.match(answer.error_message or "")
    if too_long and int(too_long[1]) > len(exchange.request.body):
        return (
            f"refused for {too_long[1]} tokens, but the recorded body has {len(exchange.request.body)} bytes: "
            "the recorder replaced its texts"
        )
    unknown = (anthropic_messages.rules.INVALID_SIGNATURE, anthropic_messages.rules.INVALID_REDACTED)
    return _ISSUED_BEFORE if _is_refused_by_us_alone(ours, answer, *unknown) else ""


ANTHROPIC = Api(
    name="anthropic",
    dialect=anthropic_messages.DIALECT,
    kept_out=lambda host: {"x-api-key": "recorded", "anthropic-version": "2023-06-01"},
    from_outside=lambda answer: answer.error_kind in _ENVIRONMENTAL,
    missing_ground=_anthropic_lacks,
)


# -- Gemini


def _gemini_keys(host: str) -> Mapping[str, str]:
    vertex = host.endswith("aiplatform.googleapis.com")
    return {"authorization": "Bearer recorded"} if vertex else {"x-goog-api-key": "recorded"}


def _gemini_from_outside(answer: WireAnswer) -> bool:
    """Quota and load have a status of their own; a wrong key and a dead URL have that of a bad request."""
    message = answer.error_message or ""
    bad_key, dead_url = "API key not valid", "Cannot fetch content from the provided URL"
    return answer.status in (401, 429) or answer.status >= 500 or message.startswith((bad_key, dead_url))


def _gemini_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    unknown = gemini.rules.INVALID_SIGNATURE
    return _ISSUED_BEFORE if _is_refused_by_us_alone(ours, answer, unknown) else ""


GEMINI = Api(
    name="gemini",
    dialect=gemini.DIALECT,
    kept_out=_gemini_keys,
    from_outside=_gemini_from_outside,
    missing_ground=_gemini_lacks,
)

# -- OpenAI's chat completions, and those who speak it

_BEFORE_WITHDRAWN = "accepted before the service withdrew the model"
_ONLY_THE_CLOUD = "the cloud refuses what a local server cuts: the address of the request does not tell them apart"


def _bearer(host: str) -> Mapping[str, str]:
    return {"authorization": "Bearer recorded"}


def _chat_from_outside(answer: WireAnswer) -> bool:
    """Keys, quota and load have a status of their own; a dead URL and a stored file have that of a bad request."""
    message, dead_url, file = answer.error_message or "", "Error while downloading", "Invalid file data"
    return answer.status in (401, 429) or answer.status >= 500 or message.startswith((dead_url, file))


def _chat_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    withdrawn = openai_chat.rules.WITHDRAWN_MODEL
    return _BEFORE_WITHDRAWN if _is_refused_by_us_alone(ours, answer, withdrawn) else ""


def _deployments(dialect: Dialect, recording: Recording) -> Mapping[str, ModelFacts]:
    """What the customer had deployed on Azure, under names of his own: whatever answered."""
    world = World.with_any_key(dialect.models)
    calls = [dialect.parse(each.request, world) for each in recording.exchanges if each.status == 200]
    on_azure = [call for call in calls if isinstance(call, ChatCall) and call.surface is Surface.AZURE]
    return {str(call.model): dialect.models["gpt-4o"] for call in on_azure}


OPENAI_CHAT = Api(
    name="openai-chat",
    dialect=openai_chat.DIALECT,
    kept_out=_bearer,
    from_outside=_chat_from_outside,
    missing_ground=_chat_lacks,
    granted=_deployments,
    outside_kinds=frozenset({"invalid_image_url", "invalid_value"}),
)

ZAI_CHAT = Api(
    name="zai",
    dialect=openai_chat.SURFACES["zai"],
    kept_out=_bearer,
    from_outside=_chat_from_outside,
    missing_ground=lambda exchange, ours, answer: "",
)


def _ollama_lacks(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    return _ONLY_THE_CLOUD if "prompt too long" in (answer.error_message or "") else ""


OLLAMA_CHAT = Api(
    name="ollama",
    dialect=openai_chat.SURFACES["ollama"],
    kept_out=_bearer,
    from_outside=_chat_from_outside,
    missing_ground=_ollama_lacks,
    takes=lambda exchange: exchange.request.path.startswith("/v1/"),
)

# -- Ollama's own API

OLLAMA_NATIVE = Api(
    name="ollama",
    dialect=ollama.SURFACES["native"],
    kept_out=lambda host: {},
    from_outside=lambda answer: answer.status >= 500,
    missing_ground=lambda exchange, ours, answer: "",
    takes=lambda exchange: exchange.request.path.startswith("/api/"),
)

# -- OpenAI's Responses

_REPLACED = "refused as too long, but the recorded body is short: the recorder replaced its texts"


def _responses_lack(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> str:
    short = len(exchange.request.body) < 100_000
    return _REPLACED if answer.error_kind == "context_length_exceeded" and short else ""


OPENAI_RESPONSES = Api(
    name="openai-responses",
    dialect=openai_responses.DIALECT,
    kept_out=_bearer,
    from_outside=_chat_from_outside,
    missing_ground=_responses_lack,
)

# -- Google's Interactions

GEMINI_INTERACTIONS = Api(
    name="gemini-interactions",
    dialect=gemini_interactions.DIALECT,
    kept_out=_gemini_keys,
    from_outside=_gemini_from_outside,
    missing_ground=lambda exchange, ours, answer: "",
)

ALL = (ANTHROPIC, GEMINI, GEMINI_INTERACTIONS, OPENAI_CHAT, ZAI_CHAT, OLLAMA_CHAT, OLLAMA_NATIVE, OPENAI_RESPONSES)
