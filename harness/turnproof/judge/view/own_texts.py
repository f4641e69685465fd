"""Requests without the texts that a framework adds of its own: instructions of its own, reminders around the user's.

What the user and the application said is known. Of a text that has some of it whole, that is kept; of one that has
none of it, nothing. So a text of theirs that was changed or left out is missing here, and what stands around it is not
seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from ...dialects.base import Call
from ...messages import Message, Part, Text
from ...run.transcript import HistorySnapshot, Transcript
from ...scenarios.model import Scenario, Turn


@dataclass(frozen=True, slots=True)
class GivenTexts:
    """What the user said in a run, and the instructions that the application gave, the longest first."""

    user: tuple[str, ...]
    system: tuple[str, ...]

    @classmethod
    def of_run(cls, scenario: Scenario, transcript: Transcript) -> GivenTexts:
        """Those of the script, and those that the session held after a turn or operation."""
        turns = list(_turns(scenario.turns))
        messages = [*scenario.given, *(one for held in transcript.of(HistorySnapshot) for one in held.messages)]
        user = [scenario.enriched(text) for turn in turns for text in _texts(turn.user)]
        user += [text for turn in turns for text in _texts(turn.user)]
        user += [turn.interject.text for turn in turns if turn.interject is not None]
        user += [text for message in messages if message.role == "user" for text in _texts(message.parts)]
        instructions = [scenario.system, *(turn.system for turn in turns)]
        system = [text for text in instructions if text is not None]
        system += [text for message in messages if message.role == "system" for text in _texts(message.parts)]
        return cls(_longest_first([*user, *system]), _longest_first(system))

    def alone_in(self, call: Call) -> Call:
        """The request with nothing but these in the user's name and in its instructions."""
        messages = []
        for message in call.messages:
            known = {"user": self.user, "system": self.system}.get(message.role)
            parts = message.parts if known is None else _given_parts(message.parts, known)
            if parts or not message.parts:
                messages.append(Message(message.role, parts, message.message_id))
        return replace(call, system=_given_parts(call.system, self.system), messages=tuple(messages))


def _turns(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Turns with those that happen within them."""
    for turn in turns:
        yield turn
        inner = [one for one in (turn.child, turn.beside, *turn.children) if one is not None]
        yield from _turns(inner)


def _texts(parts: Iterable[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Text)]


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts as they are, and without the white space at their ends, which a framework may leave out."""
    found = {form for text in texts if text.strip() for form in (text, text.strip())}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _given_parts(parts: Sequence[Part], known: Sequence[str]) -> tuple[Part, ...]:
    """Parts without what is not known. Where one says a known text and nothing else, no other part is searched for it:
    a short text may stand in a reminder by chance."""
    whole = {part.text.strip() for part in parts if isinstance(part, Text)} & set(known)
    found: list[Part] = []
    for part in parts:
        if not isinstance(part, Text) or not part.text.strip() or part.text.strip() in whole:
            found.append(part)
        elif text := _given_text(part.text, [one for one in known if one not in whole]):
            found.append(msgspec.structs.replace(part, text=text))
    return tuple(found)


def _given_text(text: str, known: Sequence[str]) -> str:
    """The known texts that stand in a text, in its order; the text itself where it is a piece of a known one."""
    if any(text.strip() in one for one in known):
        return text
    places: list[tuple[int, int]] = []
    for one in known:
        start = text.find(one)
        while start >= 0:
            end = start + len(one)
            if _stands_apart(text, start, end) and all(end <= first or last <= start for first, last in places):
                places.append((start, end))
            start = text.find(one, end)
    return "\n".join(text[start:end] for start, end in sorted(places))


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Whether no word runs on over the ends of a place in a text."""
    before, first = text[start - 1 : start], text[start]
    last, after = text[end - 1], text[end : end + 1]
    return not (before.isalnum() and first.isalnum()) and not (last.isalnum() and after.isalnum())
