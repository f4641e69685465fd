"""Requests of a session that sends a window of its conversation, with what the window leaves out put back.

The window begins somewhere in what was held before the turn. What stands in front of that place is put back where the
claim allows that it is left out; what is missing behind it is missing here, too. A session that forgets what its window
leaves out has it put back into what it holds, up to the next operation after which something is rightly forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from msgspec.structs import replace

from ...budget import begins_turn
from ...dialects.base import Call
from ...dialects.contract import Dialect
from ...messages import FunctionCall, Message, Part, Text, ToolResult
from ...run.transcript import (
    CallBegan,
    Event,
    HistorySnapshot,
    Loaded,
    Transcript,
    TurnBegan,
    WireRequest,
    WireResponse,
)
from ...scenarios.model import Scenario
from ...windows import Window

_FORGETTING = frozenset({"gc", "reset", "revert"})
"""Operations after which what is held is all that there is."""

_ROLES = frozenset({"user", "model", "system"})

Atom: TypeAlias = tuple[str, str]
"""What is compared of a message: the role with a text that it has, or that it has a call or a result."""


@dataclass(frozen=True)
class WindowReading:
    """A request against what was said before the turn that it is part of.

    `sent` are the request's messages as they stand on the wire, `user_text` is what the user says in the turn, and
    `before` are the messages of the request before it, with what its window had left out. All places are places in
    `rows`.
    """

    window: Window
    past: tuple[Message, ...]
    sent: tuple[Message, ...]
    user_text: str
    before: tuple[Message, ...] = ()
    dialect_form: bool = False

    @cached_property
    def rows(self) -> tuple[Message, ...]:
        """What the window counts of the past: its messages, or of each message the parts by themselves."""
        if self.window.unit != "item":
            return self.past
        return tuple(replace(message, parts=(part,)) for message in self.past for part in message.parts)

    @cached_property
    def begins(self) -> int:
        """The place in the past at which the request begins: that from which on it has the most of it."""
        return _begin_of(self.rows, self._sent_of_the_past)

    @cached_property
    def first_allowed(self) -> int:
        """The first place at which the window may begin: a session may go back to where that turn began, so that it
        parts nothing."""
        starts = _starts(self.rows)
        if self.window.unit == "turn":
            return starts[-self.window.count] if len(starts) > self.window.count else 0
        first = max(0, len(self.rows) - self.window.count)
        return max((start for start in starts if start <= first), default=0)

    @cached_property
    def last_allowed(self) -> int:
        """The last place at which it may begin. Of messages it has all the turns that fit, whatever is counted as a
        message of the session: each call and each result may be one, and so is what the running turn has said."""
        if self.window.unit == "turn":
            return self.first_allowed
        running = len(_atoms(self.sent, _ROLES)) - len(self._sent_of_the_past)
        room = self.window.count - max(1, running)
        places = [n for n in (*_starts(self.rows), len(self.rows)) if sum(map(_size, self.rows[n:])) <= room]
        return min(places, default=len(self.rows))

    @property
    def _place(self) -> int:
        """The place in front of which all may be missing."""
        return min(self.begins, self.last_allowed)

    @cached_property
    def _sent_of_the_past(self) -> list[Atom]:
        """What the request has in front of the text of its turn; all of it, where that is not there."""
        atoms, place = _atoms(self.sent, _ROLES), self._place_of_the_turn
        return atoms[:place] if place is not None else atoms

    @cached_property
    def _place_of_the_turn(self) -> int | None:
        atoms, text = _atoms(self.sent, _ROLES), _squeezed(self.user_text)
        places = [n for n, (role, found) in enumerate(atoms) if role == "user" and text and found.startswith(text)]
        return places[-1] if places else None

    @property
    def has_the_turn(self) -> bool:
        """Whether the request has what the user says in its turn. Where it has not, nobody knows where the past ends in
        it: calls and results of the turn may be taken for earlier ones."""
        return self._place_of_the_turn is not None

    @property
    def is_longer(self) -> bool:
        """Whether the conversation before the turn is longer than the window."""
        return self.first_allowed > 0

    @cached_property
    def left_out(self) -> tuple[Message, ...] | None:
        """What the request lacks of the past, and may lack, in the form in which the requests before it had it.

        What has been in none is as it is held. Where that is more than an answer, it is None for a `dialect_form`:
        nobody knows then what would have been sent.
        """
        place = self._place
        if not place:
            return ()
        messages, own = self.rows[:place], _atoms(self.rows[:place])
        known = _beginning(self.before, own)
        count = len(_atoms(known))
        rest = next((messages[n:] for n in range(place + 1) if len(_atoms(messages[:n])) == count), None)
        if rest is not None and all(one.role in ("model", "tool") for one in rest):
            return (*known, *rejoined(rest))
        return None if self.dialect_form else rejoined(messages)

    def complete(self, messages: Sequence[Message]) -> tuple[Message, ...] | None:
        """These messages of the request with what it lacks of the past, and may lack; None as of `left_out`.

        Where the window begins between the parts of one message, that message is whole again, and so are its results.
        """
        filled = self._filled(messages)
        return tuple(message for message, _, _ in filled) if filled is not None else None

    def path_on_the_wire(self, path: Sequence[str | int]) -> tuple[str | int, ...]:
        """A path into the complete messages (`"messages", 3, "parts", 1`) as one into those of the request."""
        filled = self._filled(self.sent) or []
        _, place, count = filled[int(path[1])] if int(path[1]) < len(filled) else (None, None, 0)
        if place is None:
            return ("messages",)
        if count and path[2:3] == ("parts",) and len(path) > 3:
            part = int(path[3]) - count
            return ("messages", place, "parts", part, *path[4:]) if part >= 0 else ("messages", place)
        return ("messages", place, *path[2:])

    def _filled(self, messages: Sequence[Message]) -> list[tuple[Message, int | None, int]] | None:
        """The complete messages, each with its place in the request and how many parts were put in front of its own."""
        if self.left_out is None:
            return None
        found: list[tuple[Message, int | None, int]] = [(message, None, 0) for message in self.left_out]
        results = tuple(_results_of(self.left_out, self.rows[self._place :]))
        for place, message in enumerate(messages):
            front: tuple[Part, ...] = ()
            if place == 0 and self._begins_inside and found and found[-1][0].role == message.role:
                front = found.pop()[0].parts
            elif results and message.role == "tool":
                front, results = results, ()
            whole = replace(message, parts=(*front, *message.parts)) if front else message
            found.append((whole, place, len(front)))
        return found

    @property
    def _begins_inside(self) -> bool:
        """Whether the window begins between two parts of one message."""
        place = self._place
        return 0 < place < len(self.rows) and self.rows[place - 1].message_id == self.rows[place].message_id

    @property
    def lacks(self) -> tuple[Message, ...]:
        """The messages of the past that the window should have, and that are not in the request in their order."""
        inside = _without_results_of(self.rows[: self._place], self.rows[self._place :])
        own, sent = _atoms(inside), _atoms(self.sent)
        if _common(own, sent)[0] == len(own):
            return ()
        same = next((n for n, (one, other) in enumerate(zip(own, sent, strict=False)) if one != other), len(sent))
        counts = [len(_atoms(inside[:n])) for n in range(len(inside) + 1)]
        return inside[max(n for n, count in enumerate(counts) if count <= same) :]


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """What was held before the turn of a request. `before` gives the messages of the request before it."""

    window: Window
    past: tuple[Message, ...]
    user_text: str
    before: Callable[[], tuple[Message, ...]]
    dialect_form: bool

    def reading(self, call: Call) -> WindowReading:
        """The request against it."""
        return WindowReading(
            self.window, self.past, tuple(call.messages), self.user_text, self.before(), self.dialect_form
        )


def said_before_requests(
    window: Window,
    scenario: Scenario,
    dialect: Dialect,
    events: Sequence[Event],
    messages_of: Callable[[int], tuple[Message, ...]],
    *,
    dialect_form: bool,
) -> dict[int, SaidBefore]:
    """For the requests of a session's own turns, and of its probes, by their number, what was said before.

    `messages_of` gives the messages of a request with what its window has left out. With `dialect_form` nothing is put
    back that no request has had.
    """
    found: dict[int, SaidBefore] = {}
    held: tuple[Message, ...] = ()
    texts: dict[int, str] = {}
    probes: dict[tuple[str, int], CallBegan] = {}
    last: int | None = None
    refused = -1
    for event in events:
        match event:
            case HistorySnapshot(owner="session"):
                held, last = event.messages, None if event.after in _FORGETTING else last
            case TurnBegan():
                texts[event.turn] = scenario.enriched(event.text)
            case CallBegan() if event.probe and event.messages:
                probes[event.probe, event.call] = event
            case WireRequest(operation="generate") if event.probe:
                if (call := probes.get((event.probe, event.call))) is not None:
                    found[event.exchange] = SaidBefore(
                        window, call.messages[:-1], call.messages[-1].text, tuple, dialect_form
                    )
            case WireResponse() if not event.probe and _is_too_long(dialect, event):
                refused = event.turn
            case WireRequest(operation="generate") if event.turn == refused:
                last = None  # who makes it shorter because it was too long has other reasons than a window
            case WireRequest(operation="generate") if event.child is None and not event.extra and event.turn in texts:
                before = _messages_of(messages_of, last)
                found[event.exchange] = SaidBefore(window, held, texts[event.turn], before, dialect_form)
                last = event.exchange
    return found


def _messages_of(
    messages_of: Callable[[int], tuple[Message, ...]], request: int | None
) -> Callable[[], tuple[Message, ...]]:
    return lambda: messages_of(request) if request is not None else ()


def completed(
    transcript: Transcript, scenario: Scenario, dialect: Dialect, sent_in: Callable[[int], Sequence[Message]]
) -> Transcript:
    """The run of a session that forgets what its window leaves out, as that of one that does not.

    What it forgets of a turn that was just said is in the turn's last request, which `sent_in` gives. Once a prompt was
    too long, it may forget more, and nobody knows for which reason: what it holds stays as it is.
    """
    events: list[Event] = []
    held: tuple[Message, ...] = ()
    text, collects = "", False
    for event in transcript.events:
        match event:
            case TurnBegan():
                text = scenario.enriched(event.text)
            case WireResponse() if not event.probe and not collects:
                collects = _is_too_long(dialect, event)
            case Loaded() if not collects:
                event = replace(event, messages=_whole(event.messages, held))
            case HistorySnapshot(owner="session"):
                if event.after == "turn" and not collects:
                    own = _since(sent_in(event.turn), text) if _is_cut(event.messages, held, text) else ()
                    event = replace(event, messages=_whole(event.messages, (*held, *own)))
                elif event.after not in _FORGETTING and not collects:
                    event = replace(event, messages=_whole(event.messages, held))
                held = event.messages
        events.append(event)
    return replace(transcript, events=tuple(events))


def _is_cut(messages: Sequence[Message], held: Sequence[Message], text: str) -> bool:
    """Whether what is held after a turn has nothing of what was held before, and not even what the user said."""
    atoms = _atoms(messages)
    if not atoms or ("user", _squeezed(text)) in atoms:
        return False
    first = next(message for message in messages if _atoms([message]))
    known = any(message.parts == first.parts for message in held) if not first.text else atoms[0] in _atoms(held)
    return not known


def _since(sent: Sequence[Message], text: str) -> Sequence[Message]:
    """What a request has from the user's text on; nothing where that is not there."""
    own = ("user", _squeezed(text))
    return next((sent[n:] for n in range(len(sent) - 1, -1, -1) if own in _atoms([sent[n]])), ())


def _whole(messages: tuple[Message, ...], held: Sequence[Message]) -> tuple[Message, ...]:
    """What is held now, with what was held before and is no longer.

    Nothing is put in front where it begins as before. Else it begins at the first place from which on all that was held
    is there; where there is none, at the end, if a turn begins with it.
    """
    now, old = _atoms(messages), _atoms(held)
    if not now or not old or now[0] == old[0]:
        return messages
    for place in range(1, len(held)):
        before = _atoms(held[place:])
        if before and now[: len(before)] == before:
            while not _atoms([held[place]]) and held[place].parts != messages[0].parts:
                place += 1
            return (*held[:place], *messages)
    return (*held, *messages) if begins_turn(messages[0]) and now[0] not in old else messages


def _is_too_long(dialect: Dialect, response: WireResponse) -> bool:
    if response.status < 400:
        return False
    read = dialect.read_response(response.status, response.headers, response.data)
    meaning = dialect.error_meaning(read.status, read.error_kind, read.error_message)
    return response.status == 413 or meaning == "context-limit"


def rejoined(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages whose parts stood by themselves, as they were."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1].message_id == message.message_id:
            found[-1] = replace(message, parts=(*found[-1].parts, *message.parts))
        else:
            found.append(message)
    return tuple(found)


def _results_of(messages: Sequence[Message], later: Sequence[Message]) -> Iterator[ToolResult]:
    """The results in later messages of calls in these: they are left out with their calls."""
    ids = {part.id for message in messages for part in message.parts if isinstance(part, FunctionCall)}
    for message in later:
        yield from (part for part in message.parts if isinstance(part, ToolResult) and part.call_id in ids)


def _without_results_of(messages: Sequence[Message], later: Sequence[Message]) -> tuple[Message, ...]:
    """The later messages without them."""
    ids = {part.call_id for part in _results_of(messages, later)}
    whole = (
        replace(one, parts=tuple(p for p in one.parts if not isinstance(p, ToolResult) or p.call_id not in ids))
        for one in later
    )
    return tuple(one for one in whole if one.parts) if ids else tuple(later)


def _beginning(messages: Sequence[Message], atoms: Sequence[Atom]) -> tuple[Message, ...]:
    """The first messages, and parts of the next one, that have nothing but the first of these atoms."""
    found: list[Message] = []
    for message in messages:
        for count in range(len(message.parts), 0, -1):
            piece = Message(message.role, message.parts[:count], message.message_id)
            if (own := _atoms([*found, piece])) == list(atoms[: len(own)]):
                found.append(piece)
                break
        else:
            return tuple(found)
        if count < len(message.parts):
            return tuple(found)
    return tuple(found)


def _starts(messages: Sequence[Message]) -> list[int]:
    return [place for place, message in enumerate(messages) if begins_turn(message)]


def _begin_of(past: Sequence[Message], sent: Sequence[Atom]) -> int:
    """The place in the past from which on a request has the most of it, with the least that lies between; the last of
    several that are as good. The end of the past, where it has nothing of it."""
    per_message = [_atoms([message], _ROLES) for message in past]
    own = [atom for atoms in per_message for atom in atoms]
    found = _common(own, sent)
    best, least, at = len(past), (0, 0), len(own)
    for place in range(len(past) - 1, -1, -1):
        at -= len(per_message[place])
        cost = (len(own) - at - 2 * found[at], -found[at])
        if cost < least:
            best, least = place, cost
    return best


def _common(own: Sequence[Atom], sent: Sequence[Atom]) -> list[int]:
    """How many atoms the request has in their order, of those from each place on."""
    row = [0] * (len(sent) + 1)
    found = [0] * (len(own) + 1)
    for place in range(len(own) - 1, -1, -1):
        after, row = row, [0] * (len(sent) + 1)
        for n in range(len(sent) - 1, -1, -1):
            row[n] = after[n + 1] + 1 if own[place] == sent[n] else max(after[n], row[n + 1])
        found[place] = row[0]
    return found


def _atoms(messages: Sequence[Message], roles: Collection[str] = ("user", "model")) -> list[Atom]:
    """Texts of these roles, calls and results. Instructions may stand elsewhere in a request, and files be others."""
    found: list[Atom] = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text=text) if message.role in roles and _squeezed(text):
                    found.append((message.role, _squeezed(text)))
                case FunctionCall():
                    found.append(("call", ""))
                case ToolResult():
                    found.append(("result", ""))
    return found


def _squeezed(text: str) -> str:
    """A text without its white space, which a framework may change at the ends."""
    return "".join(text.split())


def _size(message: Message) -> int:
    """What a message counts at the most: each call and each result may be one, and a text beside them another."""
    return max(1, len(_atoms([message])))
