"""What a scripted reply says in this API's words: wire parts in order, with their signatures.

Thinking shows only if the request asked for it (`includeThoughts`), and never carries a signature: what must come back
is signed on the first call of a step, or on a text without calls. Redacted thinking has no form of its own here. What
nobody may read of the thinking travels inside that signature, as it does in the real service, so a redacted thought
leaves no part and goes into the signature that follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace as with_fields

from ... import messages as m
from ...errors import HarnessError
from ..base import Call, ModelFacts, Reply, ReplyPart, World
from ..lenient_reading import json_of
from ..naming import spoken_name
from . import finishes, signing
from .models import GIVES_IDS, LEGAL_NAME, SIGNS
from .parts import standard_base64
from .rules import NAME
from .writing import call_id

Kind: TypeAlias = Literal["thinking", "text", "args"]

_OWN_DIALECTS = (NAME, "scenario")
"""Dialects whose provider data a scripted part may carry: our own, and that of scenarios, which serve every dialect."""

_LIMITS = (m.FinishReason.MAX_TOKENS, m.FinishReason.CONTEXT_LIMIT)


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """One part of an answer: as it was scripted (a call under its spoken name), and as it stands on the wire.

    A text streams in its `pieces` (none: where the renderer likes to cut).
    """

    source: m.Part
    wire: Mapping[str, Any]
    kind: Kind
    pieces: tuple[str, ...] = ()


@dataclass(slots=True)
class Speech:
    """All wire parts of an answer. `closing` is the signature of an answer without calls, which ends it."""

    parts: list[SpokenPart] = field(default_factory=list)
    closing: str | None = None

    @property
    def calls(self) -> list[Mapping[str, Any]]:
        """The calls in order."""
        return [each.wire["functionCall"] for each in self.parts if each.kind == "args"]


def unspeakable_call(reply: Reply) -> str | None:
    """What the model wrote for a call that is none: no JSON, or cut off by no limit. None where there is no such call.

    A call comes whole on this wire, so such a one is left out, and the finish says so.
    """
    for each in reply.parts:
        if isinstance(each.part, m.FunctionCall) and not _is_spoken(each, reply) and reply.finish not in _LIMITS:
            arguments = "".join(each.pieces) or msgspec.json.encode(each.part.args).decode()
            return f"{each.part.name}({arguments}"
    return None


def _is_spoken(reply_part: ReplyPart, reply: Reply) -> bool:
    """Whether a scripted call has arguments that are a JSON object, and is not said to be malformed all the same."""
    if reply_part.broken or reply.raw_finish == finishes.MALFORMED_CALL:
        return False
    # Pieces that add up to nothing are no arguments, which is as good as none.
    text = "".join(reply_part.pieces)
    return not text or isinstance(json_of(text), dict)


class Speaker:
    """One model that answers one call."""

    def __init__(self, call: Call, model: str, facts: ModelFacts | None, world: World, seed: str) -> None:
        self._features = facts.features if facts is not None else frozenset[str]()
        self._call, self._model, self._world, self._seed = call, model, world, seed
        config = call.settings.get("thinkingConfig")
        self._shows_thoughts = isinstance(config, dict) and config.get("includeThoughts") is True

    def speech(self, reply: Reply) -> Speech:
        """The reply as wire parts. Signatures are issued into the world."""
        found = Speech()
        for n, each in enumerate(reply.parts):
            for spoken_part in self._spoken_part(each, n, reply):
                _append(found.parts, spoken_part)
        thinking = "".join(map(_thought, (each.part for each in reply.parts)))
        first = next((n for n, each in enumerate(found.parts) if each.kind == "args"), None)
        if first is not None:
            call = found.parts[first]
            if signature := self.signature(call.source, thinking, signed=SIGNS in self._features):
                found.parts[first] = replace(call, wire={**call.wire, "thoughtSignature": signature})
        elif found.parts and isinstance(found.parts[-1].source, m.Text):
            # Recorded: where a model did not think before it spoke, its text has no signature.
            thought = any(isinstance(each.part, m.Thought) for each in reply.parts)
            signed = thought and SIGNS in self._features
            found.closing = self.signature(found.parts[-1].source, thinking, signed=signed)
        return found

    def _spoken_part(self, reply_part: ReplyPart, n: int, reply: Reply) -> Iterator[SpokenPart]:
        part = reply_part.part
        match part:
            case m.Text(text=text):
                if text:
                    yield SpokenPart(part, {"text": text}, "text", reply_part.pieces)
            case m.Thought(text=text):
                if text and self._shows_thoughts:
                    yield SpokenPart(part, self.thought(part, n), "thinking", reply_part.pieces)
            case m.FunctionCall():
                if _is_spoken(reply_part, reply):
                    named_part = with_fields(part, name=spoken_name(part.name, self._call.tools, LEGAL_NAME))
                    yield SpokenPart(named_part, {"functionCall": self._function_call(named_part, n)}, "args")
            case m.ExecutableCode() | m.CodeExecutionResult():
                yield SpokenPart(part, _code(part), "text")
            case m.Opaque() if (own := reply_part.own_block(NAME)) is not None:
                yield SpokenPart(part, own, "text")
            case _:
                raise HarnessError(f"{NAME} cannot answer with a part of type {type(part).__name__}: {part!r:.80}")

    def _function_call(self, part: m.FunctionCall, n: int) -> dict[str, Any]:
        identity = {"id": part.id or self.call_id(n)} if GIVES_IDS in self._features else {}
        return {"name": part.name, "args": m.thaw(part.args), **identity}

    def thought(self, part: m.Thought, n: int) -> dict[str, Any]:
        """A thought that is shown, as the `n`th part of the reply."""
        return {"text": part.text, "thought": True}

    def call_id(self, n: int) -> str:
        """The id of a call that the script gave none."""
        return call_id(self._seed, n)

    def signature(self, part: m.Part, thinking: str, *, signed: bool) -> str | None:
        """What signs a call, or the text that ends an answer; None where the model signs no such part."""
        from_script = scripted(part).get("signature")
        if from_script:
            self._world.issued[standard_base64(from_script)] = (signing.digest(part), self._model)
            return str(from_script)
        return signing.issue(part, thinking, self._model, self._seed, self._world) if signed else None


def _code(part: m.ExecutableCode | m.CodeExecutionResult) -> dict[str, Any]:
    """Code that the service ran, or its result, with the id from the script."""
    own_id = {"id": scripted(part)["id"]} if "id" in scripted(part) else {}
    if isinstance(part, m.ExecutableCode):
        return {"executableCode": {"language": part.language, "code": part.code, **own_id}}
    return {"codeExecutionResult": {"outcome": part.outcome, "output": part.output, **own_id}}


def scripted(part: m.Part) -> Mapping[str, Any]:
    """What a scripted part says of itself beside its text: its signature, what nobody may read of it."""
    data = part.provider_data
    return data.data if data is not None and data.dialect in _OWN_DIALECTS else {}


def _thought(part: m.Part) -> str:
    """What a part adds to the thinking that a signature seals."""
    return part.text + str(scripted(part).get("redacted", "")) if isinstance(part, m.Thought) else ""


def _append(parts: list[SpokenPart], part: SpokenPart) -> None:
    """Neighbouring thoughts without signatures are one: a stream has no border between them."""
    last = parts[-1] if parts else None
    if last is None or not last.kind == part.kind == "thinking" or "thoughtSignature" in last.wire:
        parts.append(part)
        return
    pieces = (*(last.pieces or (last.wire["text"],)), *(part.pieces or (part.wire["text"],)))
    text = "".join(pieces)
    parts[-1] = SpokenPart(m.Thought(text), {"text": text, "thought": True}, "thinking", pieces)
