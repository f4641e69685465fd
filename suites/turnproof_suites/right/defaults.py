"""Freedoms of settings that no caller asked for: values that a service takes anyway, and lists that have nothing."""

from __future__ import annotations

from typing import Final

from ..mutants._wire import Json
from ._body import OfEachAPI
from ._libraries import ADK_ANTHROPIC, ADK_GEMINI, AGENTS_RESPONSES, HAYSTACK_ANTHROPIC, LLAMA_INDEX_OPENAI
from ._right import right

_PLAIN = ("basics/*", "tools/one", "tools/parallel", "faults/plain_streams")
_KIND: Final = "settings"
_OPENAI = ("openai-chat", "openai-responses")


@right("effort-spelled-out", _KIND, scenarios=_PLAIN, seen_in=ADK_ANTHROPIC, dialects=("anthropic-messages", *_OPENAI))
class _EffortSpelledOut(OfEachAPI):
    """The request names how much effort the model makes: the default."""

    def change_messages(self, body: Json) -> None:
        body.setdefault("output_config", {}).setdefault("effort", "high")

    def change_chat(self, body: Json) -> None:
        body.setdefault("reasoning_effort", "medium")

    def change_responses(self, body: Json) -> None:
        body.setdefault("reasoning", {}).setdefault("effort", "medium")


@right("verbosity-spelled-out", _KIND, scenarios=_PLAIN, seen_in=AGENTS_RESPONSES, dialects=_OPENAI)
class _VerbositySpelledOut(OfEachAPI):
    """The request names how long answers are: the default."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("verbosity", "medium")

    def change_responses(self, body: Json) -> None:
        body.setdefault("text", {}).setdefault("verbosity", "medium")


@right("text-spelled-out", _KIND, scenarios=_PLAIN, dialects=(*_OPENAI, "gemini"))
class _TextSpelledOut(OfEachAPI):
    """The request asks for plain text: the default."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("response_format", {"type": "text"})

    def change_responses(self, body: Json) -> None:
        body.setdefault("text", {}).setdefault("format", {"type": "text"})

    def change_gemini(self, body: Json) -> None:
        body.setdefault("generationConfig", {}).setdefault("responseMimeType", "text/plain")


@right("temperature-of-one", _KIND, scenarios=_PLAIN, seen_in=LLAMA_INDEX_OPENAI, dialects=(*_OPENAI, "gemini"))
class _TemperatureOfOne(OfEachAPI):
    """The request names the temperature that the model has by itself, as a library does that has one for all models."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("temperature", 1.0)

    def change_responses(self, body: Json) -> None:
        body.setdefault("temperature", 1.0)

    def change_gemini(self, body: Json) -> None:
        body.setdefault("generationConfig", {}).setdefault("temperature", 1.0)


@right("empty-lists-spelled-out", _KIND, scenarios=_PLAIN, seen_in=HAYSTACK_ANTHROPIC)
class _EmptyListsSpelledOut(OfEachAPI):
    """Where there is no tool, no system text or nothing to stop at, the request has an empty list of them."""

    def change_messages(self, body: Json) -> None:
        for name in ("system", "tools", "stop_sequences"):
            body.setdefault(name, [])

    def change_chat(self, body: Json) -> None:
        body.setdefault("tools", [])

    def change_responses(self, body: Json) -> None:
        body.setdefault("tools", [])

    def change_gemini(self, body: Json) -> None:
        body.setdefault("tools", [])
        body.setdefault("generationConfig", {}).setdefault("stopSequences", [])


@right("safety-spelled-out", _KIND, scenarios=_PLAIN, seen_in=ADK_GEMINI, dialects=("gemini",))
class _SafetySpelledOut(OfEachAPI):
    """The request names what is blocked: for each kind of harm what the newer models block anyway, which is nothing."""

    def change_gemini(self, body: Json) -> None:
        kinds = ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
        own = [{"category": f"HARM_CATEGORY_{kind}", "threshold": "OFF"} for kind in kinds]
        body.setdefault("safetySettings", own)
