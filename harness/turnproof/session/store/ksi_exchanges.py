"""Conversations of plain text, in KSI's record form: a `user` line and a `claude` line for each exchange.

Lines of other kinds are kept and never shown to a model: feedback of the system itself, the loss of a provider's
session, a collection. A file that KSI wrote, without our seal on its lines, is read as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._base.lossless import Reader
from ...errors import PayloadError
from ...messages import Message, Role, Text
from .journal import Entry, Problem
from .providers import provider_of

_TO_ROLE: dict[object, Role] = {"user": "user", "assistant": "model"}
_FROM_ROLE = {role: name for name, role in _TO_ROLE.items()}
_reader: Reader[dict[str, Any]] = Reader(dict[str, Any])


@dataclass(slots=True)
class Transcript:
    """What the lines of a conversation come to.

    `messages` alternate strictly, a user's first. `session_ids` has, by provider, the session that is to be resumed;
    `tokens` is how full the context was at the last answer.
    """

    messages: list[Message] = field(default_factory=list)
    session_ids: dict[str, str] = field(default_factory=dict)
    tokens: int = 0
    _unanswered: tuple[Message, Entry] | None = None

    def read_line(self, line: dict[str, Any], entry: Entry) -> str | None:
        """Go on by one line; what is wrong with it, if it says nothing that can be used."""
        match line:
            case {"type": "user", "content": str(content)}:
                before, self._unanswered = self._unanswered, (_message("user", content, entry, 0), entry)
                return f"the message on line {before[1].line} had no answer, and is left out" if before else None
            case {"type": "claude", "result": str(result)}:
                if self._unanswered is None:
                    return "the answer has no message before it, and is left out"
                self.messages += (self._unanswered[0], _message("model", result, entry, 0))
                self._unanswered = None
                self._note_answer(line)
            case {"type": "session_lost", "provider": str(provider)}:
                self.session_ids.pop(provider, None)
            case {"type": "history", "messages": list(messages)}:
                self.messages = [
                    _message(_TO_ROLE[message["role"]], message["content"], entry, number)
                    for number, message in enumerate(messages)
                ]
            case {"type": "user" | "claude" | "session_lost" | "history"}:
                return "the record lacks what its type demands"
        return None

    def finish(self) -> Entry | None:
        """Forget a last message that nobody answered: its request failed, or was cut off. Where it stood."""
        unanswered, self._unanswered = self._unanswered, None
        return unanswered[1] if unanswered else None

    def _note_answer(self, line: dict[str, Any]) -> None:
        match line:
            case {"session_id": str(session_id), "model": str(model)}:
                self.session_ids[provider_of(model)] = session_id
        match line.get("usage"):
            case {"input_tokens": int(read), "output_tokens": int(written)}:
                self.tokens = read + written


def read_transcript(entries: Iterable[Entry], file: str) -> tuple[Transcript, list[Problem]]:
    """A conversation from its lines, and what is wrong with them. What cannot be used is skipped."""
    transcript, problems = Transcript(), []
    for entry in entries:
        try:
            wrong = transcript.read_line(_reader.decode(entry.body), entry)
        except (PayloadError, KeyError, TypeError) as error:
            wrong = f"the record cannot be read: {error}"
        if wrong:
            problems.append(Problem(file, wrong, entry.line, entry.offset))
    if (last := transcript.finish()) is not None:
        problems.append(Problem(file, "the last message had no answer, and is left out", last.line, last.offset))
    return transcript, problems


def plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as a collection is logged."""
    return [{"role": str(_FROM_ROLE.get(message.role, "user")), "content": message.text} for message in messages]


def _message(role: Role, text: str, entry: Entry, number: int) -> Message:
    place = f"r{entry.seq}" if entry.seq else f"l{entry.line}"
    return Message(role, (Text(text),), f"{place}.{number}")
