"""Is what went over the wire what the session holds? The comparison that every dialect shares.

Both sides are rows of atoms (`atoms.py`). They are aligned by key; equal neighbours are compared in detail, and
where the rows part, what is missing and what is new is explained by the listed allowed differences of the dialect
(a subclass of `Comparison`), else reported: a loss, an invention or a change of order is a violation; whatever is
neither listed nor a loss is `unlisted`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, groupby

from ..messages import (
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Text,
    Thought,
    ToolResult,
)
from .atoms import SIDES, Atom, Side, media_key, token_of, tokens_of, unpaired
from .base import WireDifference
from .counterparts import Counterparts
from .naming import NameMap
from .text_equality import same_but_for_borders, same_inside, without_fenced, without_tagged

_FENCE = 32
"""Characters that a text may have beside the code that it tells."""


class Comparison(Counterparts):
    """One comparison. Subclasses say what may be left out or put in another place."""

    joins_thoughts = False
    """Whether neighbouring thoughts may be sent as one, or in pieces."""
    calls_come_last = False
    """Whether the service takes no text behind the calls of a message, so that it has to be sent in front of them."""

    def __init__(self, history: Sequence[Message], sent: Sequence[Message], names: NameMap) -> None:
        super().__init__(history, sent, names)
        self.dangling, self.orphans = unpaired(history)
        self._twins: dict[str, Atom] = {}

    # -- what a dialect decides

    def may_omit_thought(self, thought: Atom) -> bool:
        """Whether this thought may be missing from the wire."""
        return token_of_atom(thought) is None or self.is_foreign(thought)

    def is_required(self, thought: Atom) -> bool:
        """Whether the service refuses, or changes what it says, without this thought."""
        return True

    def may_omit(self, atom: Atom) -> bool:
        """Whether an atom that is no text, thought, call or result may be missing."""
        is_quoted = self._is_others_code(atom) and any(_quotes(sent, atom) for sent in self.sent)
        return is_quoted or self.is_foreign(atom)

    # -- the comparison

    def run(self) -> list[WireDifference]:
        """All differences that are not allowed."""
        missing: list[Atom] = []
        added: list[Atom] = []
        for ours, theirs in self._regions():
            left, new = self._region(ours, theirs)
            missing += left
            added += new
        if self.calls_come_last:
            missing, added = self._ahead_of_calls(missing, added)
        missing, added = self._moved(missing, added)
        self._texts_changed(missing, added)
        for atom in missing:
            self._missing(atom)
        for atom in added:
            self._added(atom)
        return [dataclasses.replace(one, sent_path=self._sent_path(one.path)) for one in self.found]

    # -- where a held thing stands on the wire

    def _match(self, held: Atom, sent: Atom) -> None:
        """Two atoms are each other's counterpart: what differs in them is reported."""
        self._twins[held.path] = sent
        self._details(held, sent)

    def _join(self, held: Sequence[Atom], sent: Sequence[Atom]) -> None:
        """Some atoms were sent as others, in whatever pieces."""
        self._twins.update({atom.path: sent[min(n, len(sent) - 1)] for n, atom in enumerate(held) if sent})

    def _sent_path(self, path: str) -> str:
        """The place on the sent side of a place in what is held (see `WireDifference`)."""
        if path.startswith("$.sent."):
            return path
        at = next((n for n, atom in enumerate(self.held) if _is_within(path, atom.path)), None)
        if at is None:
            return "$.sent.messages"
        atom = self.held[at]
        if atom.path in self._twins:
            return self._twins[atom.path].path + path[len(atom.path) :]
        nearest = [*reversed(self.held[:at]), *self.held[at:]]
        twins = (self._twins.get(each.path) for each in nearest if each.message == atom.message)
        neighbour = next((twin for twin in twins if twin is not None), None)
        return "$.sent.messages" if neighbour is None else f"$.sent.messages[{neighbour.message}]"

    def _regions(self) -> list[tuple[list[Atom], list[Atom]]]:
        """Where the rows part. Equal atoms are compared in detail on the way."""
        ours, theirs = self.held, self.sent
        head = 0
        while head < min(len(ours), len(theirs)) and ours[head].key == theirs[head].key:
            self._match(ours[head], theirs[head])
            head += 1
        tail = 0
        while tail < min(len(ours), len(theirs)) - head and ours[-1 - tail].key == theirs[-1 - tail].key:
            tail += 1
        middle = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
        regions = self._aligned(*middle) if middle[0] or middle[1] else []
        for held, sent in zip(ours[len(ours) - tail :], theirs[len(theirs) - tail :], strict=True):
            self._match(held, sent)
        return regions

    def _aligned(self, ours: list[Atom], theirs: list[Atom]) -> list[tuple[list[Atom], list[Atom]]]:
        """Where rows that begin and end differently part. Texts are first compared in runs of neighbours: a piece of
        one may look like another text of the conversation."""
        regions = []
        runs, their_runs = list(_runs(ours)), list(_runs(theirs))
        for tag, a, b, c, d in _opcodes([_run_key(run) for run in runs], [_run_key(run) for run in their_runs]):
            if tag == "equal":
                for held, sent in zip(runs[a:b], their_runs[c:d], strict=True):
                    self._match_runs(held, sent)
            else:
                regions += self._aligned_atoms([*chain(*runs[a:b])], [*chain(*their_runs[c:d])])
        return regions

    def _aligned_atoms(self, ours: list[Atom], theirs: list[Atom]) -> list[tuple[list[Atom], list[Atom]]]:
        regions = []
        for tag, a, b, c, d in _opcodes([atom.key for atom in ours], [atom.key for atom in theirs]):
            if tag == "equal":
                for held, sent in zip(ours[a:b], theirs[c:d], strict=True):
                    self._match(held, sent)
            else:
                regions.append((ours[a:b], theirs[c:d]))
        return regions

    def _match_runs(self, held: list[Atom], sent: list[Atom]) -> None:
        if len(held) == len(sent) == 1:
            self._match(held[0], sent[0])
        else:
            self._join(held, sent)

    # -- where the rows part

    def _region(self, ours: list[Atom], theirs: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        for side in SIDES:
            ours, theirs = self._same_words(ours, theirs, side)
        ours = [atom for atom in ours if not _is_blank(atom)]
        theirs = [atom for atom in theirs if not _is_blank(atom)]
        for same in (self._same_call, self._same_result, self._same_thought):
            ours, theirs = self._pair(ours, theirs, same)
        for side in SIDES:
            ours, theirs = self._texts(ours, theirs, side)
        return self._joined_thoughts(ours, theirs) if self.joins_thoughts else (ours, theirs)

    def _joined_thoughts(self, ours: list[Atom], theirs: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Without the thoughts that were sent in the pieces in which a stream brought them, or joined."""
        sent = [atom for atom in theirs if atom.kind == "thought"]
        sent_text, used = "".join(atom.text for atom in sent), []
        for atom in ours:
            if atom.kind == "thought" and atom.text and sent_text.startswith(atom.text):
                sent_text = sent_text.removeprefix(atom.text)
                used.append(atom)
        if not sent or sent_text:
            return ours, theirs
        self._join(used, sent)
        return [atom for atom in ours if atom not in used], [atom for atom in theirs if atom not in sent]

    def _pair(
        self, ours: list[Atom], theirs: list[Atom], same: Callable[[Atom, Atom], bool]
    ) -> tuple[list[Atom], list[Atom]]:
        left = []
        rest = list(theirs)
        for held in ours:
            partner = next((sent for sent in rest if same(held, sent)), None)
            if partner is None:
                left.append(held)
            else:
                rest.remove(partner)
                self._match(held, partner)
        return left, rest

    def _same_call(self, held: Atom, sent: Atom) -> bool:
        if not isinstance(held.part, FunctionCall) or not isinstance(sent.part, FunctionCall):
            return False
        return self._partners.get(id(held.part)) is sent.part

    def _same_result(self, held: Atom, sent: Atom) -> bool:
        if not isinstance(held.part, ToolResult) or not isinstance(sent.part, ToolResult):
            return False
        return self._answered[id(held.part)] == sent.part.call_id

    def _same_thought(self, held: Atom, sent: Atom) -> bool:
        if held.kind != "thought" or sent.kind != "thought":
            return False
        ours, theirs = tokens_of(held.part, sent.part)
        return (ours is not None and ours == theirs) or (held.text != "" and held.text == sent.text)

    def _same_words(self, ours: list[Atom], theirs: list[Atom], side: Side) -> tuple[list[Atom], list[Atom]]:
        """Texts that are the same to the letter once joined; a blank piece among them is part of the text."""
        held, sent = ([atom for atom in row if atom.kind == "text" and atom.side == side] for row in (ours, theirs))
        if "".join(atom.text for atom in held) != "".join(atom.text for atom in sent):
            return ours, theirs
        self._join(held, sent)
        matched_ids = set(map(id, (*held, *sent)))
        return [atom for atom in ours if id(atom) not in matched_ids], [
            atom for atom in theirs if id(atom) not in matched_ids
        ]

    def _texts(self, ours: list[Atom], theirs: list[Atom], side: Side) -> tuple[list[Atom], list[Atom]]:
        """Texts of one side may be joined or split; a thought or an instruction may stand in them as tagged text."""
        held = [atom for atom in ours if atom.kind == "text" and atom.side == side]
        sent = [atom for atom in theirs if atom.kind == "text" and atom.side == side]
        if not sent:
            return ours, theirs
        sent_text = "".join(atom.text for atom in sent)
        tagged = [atom for atom in ours if self._may_be_tagged(atom, side)]
        used = []
        for atom in tagged:
            without = without_tagged(sent_text, atom.text)
            if without is not None:
                sent_text = without
                used.append(atom)
        for atom in ours:
            if side == "model" and self._is_others_code(atom):
                without = without_fenced(sent_text, _code_of(atom))
                if without is not None:
                    sent_text = without
                    used.append(atom)
        # One service refuses blanks at the end of what the model said last, so libraries cut them off.
        if not same_but_for_borders([atom.text for atom in held], sent_text, free_end=side == "model"):
            return ours, theirs
        self._join(held, sent)
        self._join(used, sent)
        matched_ids = {id(atom) for atom in (*held, *sent, *used)}
        return [atom for atom in ours if id(atom) not in matched_ids], [
            atom for atom in theirs if id(atom) not in matched_ids
        ]

    def _may_be_tagged(self, atom: Atom, side: Side) -> bool:
        if not atom.text.strip():
            return False
        if atom.kind == "thought":
            # In a user's message it is one model's thinking, told to the other; in a model's, the other would write so.
            return side in ("model", "user") and self.may_omit_thought(atom)
        return atom.kind == "text" and atom.side == "system" and side == "user"

    def _ahead_of_calls(self, missing: list[Atom], added: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Without the texts that were sent in front of the calls behind which they are held, in whatever blocks."""
        for call in self._calls_with_text_behind(missing):
            texts = [atom for atom in missing if atom.message == call.message and atom.kind == "text"]
            partner = self._partners.get(id(call.part))
            end = next((n for n, atom in enumerate(self.sent) if atom.part is partner), 0)
            before = {id(atom) for atom in self.sent[:end] if atom.message == self.sent[end].message}
            free = [atom for atom in added if id(atom) in before and atom.kind == "text"]
            if free and same_but_for_borders([atom.text for atom in texts], "".join(atom.text for atom in free)):
                self._join(texts, free)
                matched_ids = set(map(id, (*texts, *free)))
                missing = [atom for atom in missing if id(atom) not in matched_ids]
                added = [atom for atom in added if id(atom) not in matched_ids]
        return missing, added

    def _calls_with_text_behind(self, missing: Sequence[Atom]) -> list[Atom]:
        """The first call of each message in which a missing text is held behind a call."""
        first: dict[int, Atom] = {}
        missing_ids = set(map(id, missing))
        found: dict[int, Atom] = {}
        for atom in self.held:
            if atom.kind == "call":
                first.setdefault(atom.message, atom)
            elif atom.kind == "text" and id(atom) in missing_ids and atom.message in first:
                found.setdefault(atom.message, first[atom.message])
        return list(found.values())

    def _moved(self, missing: list[Atom], added: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        """What is missing in one place and new in another was moved."""
        left = []
        rest = list(added)
        for atom in missing:
            twin = next((sent for sent in rest if sent.key == atom.key), None)
            if twin is None:
                left.append(atom)
                continue
            rest.remove(twin)
            self.report("order", atom.path, atom.shown(), {"at": twin.path}, violation=True)
            self._match(atom, twin)
        return left, rest

    def _texts_changed(self, missing: list[Atom], added: list[Atom]) -> None:
        """A missing and a new text of one side are one changed text. Both lists lose what is settled."""
        for atom in [each for each in missing if each.kind == "text"]:
            twin = next((each for each in added if each.kind == "text" and each.side == atom.side), None)
            if twin is None:
                continue
            missing.remove(atom)
            added.remove(twin)
            self._twins[atom.path] = twin
            changed = not same_inside(atom.text, twin.text)
            what = ("system" if atom.side == "system" else "lost-text") if changed else "unlisted"
            self.report(what, atom.path, atom.text, twin.text, violation=changed)

    # -- verdicts on single atoms

    def _missing(self, atom: Atom) -> None:
        match atom.kind:
            case "text":
                what = "system" if atom.side == "system" else "lost-text"
                self.report(what, atom.path, atom.shown(), None, violation=True)
            case "thought":
                if not self.may_omit_thought(atom):
                    demanded = self.is_required(atom)
                    what = "lost-signature" if demanded else "unlisted"
                    self.report(what, atom.path, atom.shown(), None, violation=demanded)
            case "call":
                if atom.path not in self.dangling:
                    self.report("lost-call", atom.path, atom.shown(), None, violation=True)
            case "result":
                if atom.path not in self.orphans:
                    self.report("lost-result", atom.path, atom.shown(), None, violation=True)
            case _:
                if not self.may_omit(atom):
                    # Code that another service ran, and files of the model, have no form on every wire.
                    is_lost = atom.kind == "opaque" or (atom.kind == "media" and atom.side == "user")
                    what = "lost-attachment" if is_lost else "unlisted"
                    self.report(what, atom.path, atom.shown(), None, violation=is_lost)

    def _added(self, atom: Atom) -> None:
        part = atom.part
        if any(_quotes(atom, each) for each in self.held if self._is_others_code(each)):
            return
        if isinstance(part, ToolResult) and part.call_id in self._dangling_ids():
            if not part.is_error and self.flags_errors:
                self.report("unlisted", atom.path, None, atom.shown(), violation=False)
            return
        if isinstance(part, InlineData | FileRef) and media_key(part) in self._attached():
            return  # The attachment of a result, put behind it: every API takes it there.
        if isinstance(part, Text) and atom.side == "user" and self._is_label(atom):
            return
        if isinstance(part, Text) and len(part.text) <= 32 and self._has_empty_message(atom.side):
            # A placeholder for a message that has nothing to send.
            self.report("unlisted", atom.path, None, part.text, violation=False)
            return
        self.report("invented", atom.path, None, atom.shown(), violation=True)

    def _is_others_code(self, atom: Atom) -> bool:
        data = atom.part.provider_data
        is_code = isinstance(atom.part, ExecutableCode | CodeExecutionResult)
        return is_code and (data is None or data.dialect != self.dialect)

    def _dangling_ids(self) -> set[str]:
        ids = {atom.part.id for atom in self.held if isinstance(atom.part, FunctionCall) and atom.path in self.dangling}
        return {self._ids.get(each, each) for each in ids}

    def _has_empty_message(self, side: Side) -> bool:
        role = "model" if side == "model" else "user"
        return any(
            message.role == role and not any(not isinstance(part, Text) or part.text.strip() for part in message.parts)
            for message in self.held_messages
        )


def _opcodes(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()


def _runs(row: Iterable[Atom]) -> Iterator[list[Atom]]:
    """Neighbouring texts of one side together; anything else alone."""
    for side, atoms_of_side in groupby(row, lambda atom: atom.side if atom.kind == "text" else None):
        if side is not None:
            yield list(atoms_of_side)
        else:
            yield from ([atom] for atom in atoms_of_side)


def _run_key(run: Sequence[Atom]) -> Hashable:
    first = run[0]
    return (first.kind, first.side, "".join(atom.text for atom in run)) if first.kind == "text" else first.key


def token_of_atom(atom: Atom) -> str | None:
    """The signature of a thought atom."""
    return token_of(atom.part) if isinstance(atom.part, Thought) else None


def _is_within(path: str, whole: str) -> bool:
    """Whether a path is that of a thing, or of something in it."""
    return path.startswith(whole) and path[len(whole) : len(whole) + 1] in ("", ".", "[")


def _is_blank(atom: Atom) -> bool:
    return atom.kind == "text" and not atom.text.strip()


def _code_of(atom: Atom) -> str:
    """The code of an atom, or what it gave."""
    return atom.part.code if isinstance(atom.part, ExecutableCode) else str(getattr(atom.part, "output", ""))


def _quotes(sent: Atom, code: Atom) -> bool:
    """Whether a text is this code or what it gave, with little more than a fence around it."""
    code_text = _code_of(code)
    return bool(code_text) and code_text in sent.text and len(sent.text) - len(code_text) <= _FENCE
