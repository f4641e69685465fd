"""Freedoms of settings that no caller asked for: values that a service takes anyway, and lists that have nothing."""

from __future__ import annotations

from ..mutants._wire import Json
from ._body import OfEachAPI
from ._right import right


@right("effort-spelled-out")
class _EffortSpelledOut(OfEachAPI):
    """The request names how much effort the model makes: the default."""

    def change_messages(self, body: Json) -> None:
        body.setdefault("output_config", {}).setdefault("effort", "high")

    def change_chat(self, body: Json) -> None:
        body.setdefault("reasoning_effort", "medium")

    def change_responses(self, body: Json) -> None:
        body.setdefault("reasoning", {}).setdefault("effort", "medium")


@right("verbosity-spelled-out")
class _VerbositySpelledOut(OfEachAPI):
    """The request names how long answers are: the default."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("verbosity", "medium")

    def change_responses(self, body: Json) -> None:
        body.setdefault("text", {}).setdefault("verbosity", "medium")


@right("text-spelled-out")
class _TextSpelledOut(OfEachAPI):
    """The request asks for plain text: the default."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("response_format", {"type": "text"})

    def change_responses(self, body: Json) -> None:
        body.setdefault("text", {}).setdefault("format", {"type": "text"})

    def change_gemini(self, body: Json) -> None:
        body.setdefault("generationConfig", {}).setdefault("responseMimeType", "text/plain")


@right("temperature-of-one")
class _TemperatureOfOne(OfEachAPI):
    """The request names the temperature that the model has by itself, as a library does that has one for all models."""

    def change_chat(self, body: Json) -> None:
        body.setdefault("temperature", 1.0)

    def change_responses(self, body: Json) -> None:
        body.setdefault("temperature", 1.0)

    def change_gemini(self, body: Json) -> None:
        body.setdefault("generationConfig", {}).setdefault("temperature", 1.0)


@right("empty-lists-spelled-out")
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


@right("safety-spelled-out")
class _SafetySpelledOut(OfEachAPI):
    """The request names what is blocked: for each kind of harm what the newer models block anyway, which is nothing."""

    def change_gemini(self, body: Json) -> None:
        kinds = ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
        own = [{"category": f"HARM_CATEGORY_{kind}", "threshold": "OFF"} for kind in kinds]
        body.setdefault("safetySettings", own)
