"""A held part and the part that was sent for it: what differs between the two, and whether it is a violation.

`history_agreement.py` finds the counterparts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from ..messages import (
    JSON,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Part,
    Text,
    Thought,
    ToolResult,
    thaw,
)
from .atoms import Atom, atoms, media_key, same_json, tokens_of
from .attachment_labels import are_labels
from .base import WireDifference
from .call_pairing import pair_calls
from .naming import NameMap
from .pictures import with_held_pictures
from .text_equality import leaves, parses_to

_encode = msgspec.json.Encoder().encode


class Counterparts:
    """Both sides of one comparison, and what was found. Subclasses say what a service has a place for."""

    dialect = ""
    flags_errors = True
    """Whether a result has a mark for a tool that failed; without one, its text may say so with words around it."""

    def __init__(self, history: Sequence[Message], sent: Sequence[Message], names: NameMap) -> None:
        self.held_messages = history
        self.held = atoms(history, root="$.messages")
        self.sent = atoms(with_held_pictures(sent, history), root="$.sent.messages")
        self.names = names
        self.found: list[WireDifference] = []
        pairs = pair_calls(_calls(self.held), _calls(self.sent))
        self._partners = {id(ours): theirs for ours, theirs in pairs}
        self._ids = {ours.id: theirs.id for ours, theirs in pairs}
        self._answered = self._ids_of_answered_calls()

    def _ids_of_answered_calls(self) -> dict[int, str]:
        """The id on the wire of the call that each held result answers: the nearest call before it with its id."""
        current: dict[str, str] = {}
        answered: dict[int, str] = {}
        for part in (part for message in self.held_messages for part in message.parts):
            if isinstance(part, FunctionCall):
                partner = self._partners.get(id(part))
                current[part.id] = part.id if partner is None else partner.id
            elif isinstance(part, ToolResult):
                answered[id(part)] = current.get(part.call_id, self._ids.get(part.call_id, part.call_id))
        return answered

    def is_foreign(self, atom: Atom) -> bool:
        """Whether a part came from another dialect."""
        data = atom.part.provider_data
        owner = getattr(atom.part, "dialect", None) or (data.dialect if data else None)
        return owner is not None and owner != self.dialect

    def report(self, what: str, path: str, held: JSON, sent: JSON, *, violation: bool) -> None:
        """One difference."""
        self.found.append(WireDifference(what, path, held, sent, violation))

    def _details(self, held: Atom, sent: Atom) -> None:
        match held.part, sent.part:
            case FunctionCall() as ours, FunctionCall() as theirs:
                self._call(held, ours, theirs)
            case ToolResult() as ours, ToolResult() as theirs:
                self._result(held, ours, theirs)
            case Thought() as ours, Thought() as theirs:
                self._thought(held, ours, theirs)
            case (InlineData() | FileRef()) as ours, (InlineData() | FileRef()) as theirs:
                if isinstance(ours, InlineData) and ours.mime_type != theirs.mime_type:
                    self.report("unlisted", held.path, ours.mime_type, theirs.mime_type, violation=False)

    def _call(self, atom: Atom, held: FunctionCall, sent: FunctionCall) -> None:
        if not self.names.agree(held.name, sent.name):
            self.report("lost-call", f"{atom.path}.name", held.name, sent.name, violation=True)
        if not same_json(held.args, sent.args):
            self.report("changed-args", f"{atom.path}.args", thaw(held.args), thaw(sent.args), violation=True)

    def _result(self, atom: Atom, held: ToolResult, sent: ToolResult) -> None:
        expected = self._answered.get(id(atom.part), held.call_id)  # of the result itself: `held` may be a copy
        if sent.call_id != expected:
            self.report("pairing", f"{atom.path}.call_id", expected, sent.call_id, violation=True)
        if self.flags_errors and held.is_error and not sent.is_error:
            self.report("lost-error-flag", f"{atom.path}.is_error", True, False, violation=True)
        elif sent.is_error and not held.is_error:
            self.report("invented", f"{atom.path}.is_error", False, True, violation=True)
        elif held.is_error:
            sent = self._failure_text(held, sent)
        if not self._is_told_behind(held, sent):
            self._result_value(atom, held.result, sent.result)
        self._attachments(atom, held, sent)

    def _attached(self) -> set[object]:
        """The keys of all that the held results have attached."""
        results = (atom.part for atom in self.held if isinstance(atom.part, ToolResult))
        return {media_key(each) for result in results for each in result.attachments}

    def _around_attachments(self, part: Part) -> list[Atom]:
        """The user's side of the turn on the wire that a part stands in, where it shows what a result has attached."""
        turns = (list(turn) for side, turn in groupby(self.sent, key=lambda each: each.side) if side == "user")
        turn = next((turn for turn in turns if any(each.part is part for each in turn)), [])
        attached = self._attached()
        return turn if any(each.kind == "media" and _media_key_of(each) in attached for each in turn) else []

    def _is_told_behind(self, held: ToolResult, sent: ToolResult) -> bool:
        """Whether a result stands behind the results, as a text beside what a tool has attached, or in its place with
        words that say so."""
        if held.result == sent.result:
            return False
        members = sent.result.values() if isinstance(sent.result, Mapping) else (sent.result,)
        if held.attachments and any(isinstance(text, str) and _announces(text, held) for text in members):
            return True
        turn = self._around_attachments(sent)
        if held.result is None:
            return bool(turn)  # words in its place say where the rest is
        return any(_tells(each.text, held.result) for each in turn if each.text.strip())

    def _is_label(self, atom: Atom) -> bool:
        """Whether a text on the wire goes with what a tool has attached: few words beside it, aside from the ids of
        calls, or the text of a result that stands behind the results."""
        turn = self._around_attachments(atom.part)
        if not turn or self._tells_a_result(atom.text):
            return bool(turn)
        held_texts = {each.text for each in self.held}
        texts = [each.text for each in turn if isinstance(each.part, Text) and each.text not in held_texts]
        ids = [each.part.call_id for each in turn if isinstance(each.part, ToolResult)]
        labels = [_without(text, ids) for text in texts if not self._tells_a_result(text)]
        shown = sum(each.kind == "media" for each in turn)
        return are_labels([_without(atom.text, ids)], shown) or are_labels(labels, shown)

    def _tells_a_result(self, text: str) -> bool:
        return any(_tells(text, each.part.result) for each in self.held if isinstance(each.part, ToolResult))

    def _failure_text(self, held: ToolResult, sent: ToolResult) -> ToolResult:
        """A failure that was told with words around what is held, as if it were told in these alone."""
        text, result_leaves = sent.result if isinstance(sent.result, str) else "", leaves(held.result)
        if not result_leaves or any(leaf not in text for leaf in result_leaves):
            return sent
        return replace(sent, result=held.result if isinstance(held.result, str) else _encode(held.result).decode())

    def _result_value(self, atom: Atom, held: JSON, sent: JSON) -> None:
        if held == sent and isinstance(held, str):
            return
        text = sent if isinstance(sent, str) else ""
        if held is None or (isinstance(held, str) and not held.strip()):
            if text.strip() not in ("", "null", '""'):
                # Every API takes an empty result, so words in its place are made up. How no value is written is open.
                is_text = held is not None
                what = "lost-result" if is_text else "unlisted"
                self.report(what, f"{atom.path}.result", held, sent, violation=is_text)
            return
        if not isinstance(held, str) and parses_to(text, held):
            return
        has_all_leaves = all(leaf in text for leaf in leaves(held)) and text != ""
        what = "unlisted" if has_all_leaves else "lost-result"
        self.report(what, f"{atom.path}.result", thaw(held), sent, violation=not has_all_leaves)

    def _attachments(self, atom: Atom, held: ToolResult, sent: ToolResult) -> None:
        ours = [media_key(each) for each in held.attachments]
        theirs = [media_key(each) for each in sent.attachments]
        for n, key in enumerate(ours):
            if key in theirs:
                theirs.remove(key)
                continue
            if not any(each.kind == "media" and _media_key_of(each) == key for each in self.sent):
                shown = str(held.attachments[n])[:200]
                self.report("lost-attachment", f"{atom.path}.attachments[{n}]", shown, None, violation=True)
        if theirs:
            self.report("invented", f"{atom.path}.attachments", None, len(theirs), violation=True)

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        ours, theirs = tokens_of(held, sent)
        if ours != theirs and ours is not None and not self.is_foreign(atom):
            self.report("lost-signature", f"{atom.path}.provider_data", ours, theirs, violation=True)
        elif ours != theirs and theirs is not None:
            self.report("invented", f"{atom.path}.provider_data", ours, theirs, violation=True)
        if held.text != sent.text:
            self.report("lost-signature", f"{atom.path}.text", held.text, sent.text, violation=ours is not None)


def _tells(text: str, result: JSON) -> bool:
    """Whether a text is this result: a text as it is, any other value as JSON."""
    return text.strip() == result.strip() if isinstance(result, str) else parses_to(text, result)


def _announces(text: str, held: ToolResult) -> bool:
    """Whether a text is this result, with lines before or behind it that are labels of what is attached."""
    lines = text.split("\n")
    halves = [(lines[:n], lines[n:]) for n in range(1, len(lines))]
    halves += [(rest, first) for first, rest in halves]
    return any(
        _tells("\n".join(own), held.result) and are_labels(labels, len(held.attachments)) for own, labels in halves
    )


def _without(text: str, ids: Sequence[str]) -> str:
    for each in ids:
        text = text.replace(each, "")
    return text


def _calls(row: Sequence[Atom]) -> list[FunctionCall]:
    return [atom.part for atom in row if isinstance(atom.part, FunctionCall)]


def _media_key_of(atom: Atom) -> object:
    """The key of a media atom; None for another."""
    return media_key(atom.part) if isinstance(atom.part, InlineData | FileRef) else None
