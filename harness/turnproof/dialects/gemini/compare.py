"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ...messages import FunctionCall, Message, Thought, ToolResult, ToolSchema, thaw
from ..atoms import Atom, token_of
from ..base import Call, ModelFacts
from ..naming import NameMap
from ..request_comparison import RequestComparison
from ..tables import load_allowed
from .models import DEMANDS_SIGNATURES, LEGAL_NAME, MODELS
from .parts import signature_of, standard_base64
from .results import agrees_with_result, fails_by_itself, tells_a_failure
from .rules import NAME
from .signing import stands_in
from .surfaces import bare_model

ALLOWED = load_allowed(__package__)


class ContentsComparison(RequestComparison):
    """The comparison of one request. `dialect` is whose provider data is the service's own, `models` what it knows."""

    dialect = NAME
    legal_name = LEGAL_NAME
    models: Mapping[str, ModelFacts] = MODELS
    joins_thoughts = True

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call, bare_model(model), names)
        facts = self.models.get(call.model or "")
        self._features = facts.features if facts is not None else frozenset[str]()
        self._signatures = {held_signature(part) for message in history for part in message.calls} - {None}

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        return not tool.description and list(tool.parameters) == [tool.name]

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        config = call.settings.get("toolConfig")
        calling = config.get("functionCallingConfig") if isinstance(config, dict) else None
        return isinstance(calling, dict) and calling.get("mode") == "ANY"

    @classmethod
    def is_same_model(cls, requested: str, model: str) -> bool:
        return super().is_same_model(requested, bare_model(model))

    # -- thinking: never demanded as text

    def may_omit_thought(self, thought: Atom) -> bool:
        return True

    def is_required(self, thought: Atom) -> bool:
        return False

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        """Two thoughts of one text are one thought: a signature on it is not the service's to check."""

    # -- calls

    def is_foreign(self, atom: Atom) -> bool:
        data = atom.part.provider_data
        if data is not None and data.dialect == self.dialect:
            return self.is_of_another_model(data)
        return super().is_foreign(atom)

    def _call(self, atom: Atom, held: FunctionCall, sent: FunctionCall) -> None:
        super()._call(atom, held, sent)
        self._signature(atom, held, sent)

    def _signature(self, atom: Atom, held: FunctionCall, sent: FunctionCall) -> None:
        foreign = self.is_foreign(atom)
        ours, theirs = held_signature(held), signature_of(sent)
        none = theirs is None or stands_in(theirs)
        if theirs == ours or (none and (foreign or ours is None)):
            return
        path = f"{atom.path}.provider_data"
        if ours is not None and not foreign:
            if not none or self._demanded(atom):
                self.report("lost-signature", path, ours, theirs, violation=True)
        elif theirs in self._signatures:
            # Documented: a signature goes back in the part it came in.
            self.report("invented", path, ours, theirs, violation=True)
        else:
            # A session may hold its signatures where we do not see them; a forged one is refused by `validate`.
            self.report("unlisted", path, ours, theirs, violation=False)

    def _demanded(self, atom: Atom) -> bool:
        return atom.message > self.last_input and DEMANDS_SIGNATURES in self._features

    # -- results

    def _result(self, atom: Atom, held: ToolResult, sent: ToolResult) -> None:
        if fails_by_itself(held) and agrees_with_result(held, sent) == "whole":
            sent = replace(sent, is_error=False)
        if held.is_error and not sent.is_error and tells_a_failure(sent.result):
            self.report("unlisted", f"{atom.path}.is_error", True, thaw(sent.result), violation=False)
            sent = replace(sent, is_error=True)
        agrees = agrees_with_result(held, sent)
        if agrees != "whole" and not self._is_told_behind(held, sent):
            what = "lost-result" if agrees == "lost" else "unlisted"
            self.report(what, f"{atom.path}.result", thaw(held.result), thaw(sent.result), violation=agrees == "lost")
        super()._result(atom, held, replace(sent, result=held.result))

    def _result_value(self, atom: Atom, held: object, sent: object) -> None:
        """Settled in `_result`, which knows the whole response."""


def held_signature(part: FunctionCall) -> str | None:
    """The signature that a session holds with a call, in the standard alphabet, whatever it calls it."""
    found = token_of(part)
    return standard_base64(found) if found is not None else None
