"""All sessions of an agent's home, as the program has stored them: a file each, in a folder for each place of work."""

from __future__ import annotations

import os
import re
import shutil
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from turnproof.errors import ResumeError, UsageError
from turnproof.sessions import SessionInfo, SessionPage, last_update

from . import stored_session
from .history import is_of_the_program

PAGE = 25
"""Sessions in one page of a list."""

_LONGEST = 80
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class SessionFiles:
    """The sessions in a folder that the program keeps its things in. `provider` is whose they are, for lists."""

    def __init__(self, home: Path, provider: str) -> None:
        self._projects = home / "projects"
        self._provider = provider

    def find(self, session_id: str) -> Path | None:
        """The file of a session, if there is one."""
        if not _ID.fullmatch(session_id):
            return None
        return next((path for path in self._files() if path.stem == session_id), None)

    def load(self, session_id: str) -> stored_session.StoredSession:
        """A session. Raises ResumeError where it is not there, or where nothing of it can be read."""
        path = self.find(session_id)
        if path is None:
            raise ResumeError(
                f"there is no session {session_id!r} under {self._projects}: list_sessions() names those that are "
                "there, new_session() begins one",
                session_id=session_id,
            )
        try:
            session = stored_session.read(path)
        except OSError as error:
            raise ResumeError(
                f"session {session_id!r} cannot be read: {path}: {error.strerror}", session_id=session_id
            ) from None
        if not any(line.is_message for line in session.lines):
            raise ResumeError(
                f"session {session_id!r} cannot be gone on with: {path} holds no message that can be read; delete it "
                "with delete_session(), or begin anew with new_session()",
                session_id=session_id,
            )
        return session

    def page(self, cwd: str | None, cursor: str | None) -> SessionPage:
        """Some sessions of a folder, or of all, newest first. Raises UsageError for a cursor that no page gave."""
        after = None if cursor is None else _place(cursor)
        found = sorted(self._infos(cwd), key=_rank, reverse=True)
        rest = [info for info in found if after is None or _rank(info) < after]
        shown = rest[:PAGE]
        return SessionPage(tuple(shown), _cursor(shown[-1]) if len(rest) > PAGE else None)

    def copy(self, session_id: str) -> str:
        """Copy a session; the id of the copy. Raises ResumeError as `load` does."""
        self.load(session_id)
        path, copied = self.find(session_id), str(uuid4())
        assert path is not None
        stored_session.copy(path, path.with_name(f"{copied}.jsonl"), copied)
        return copied

    def delete(self, session_id: str) -> None:
        """Remove a session and what was filed for it. Raises ResumeError where it is not there."""
        path = self.find(session_id)
        if path is None:
            self.load(session_id)
            return
        path.unlink()
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)

    def take_back(self, session_id: str, uuid: str) -> bool:
        """Take a turn out of a session, by the id of its first line; whether anything was said before. If not, the
        session goes with it."""
        path = self.find(session_id)
        if path is None:
            return False
        if stored_session.cut(path, uuid):
            return True
        self.delete(session_id)
        return False

    def _files(self) -> list[Path]:
        return list(self._projects.glob("*/*.jsonl"))

    def _infos(self, cwd: str | None) -> list[SessionInfo]:
        infos = map(self._info, filter(lambda path: _ID.fullmatch(path.stem), self._files()))
        return [info for info in infos if cwd is None or _same_folder(info.cwd, cwd)]

    def _info(self, path: Path) -> SessionInfo:
        try:
            session = stored_session.read(path)
        except OSError as error:
            problem = f"{path} cannot be read: {error.strerror}"
            return SessionInfo(path.stem, self._provider, problem=problem)
        if not any(line.is_message for line in session.lines):
            problem = f"{path} holds no message that can be read"
            return SessionInfo(path.stem, self._provider, session.cwd, problem=problem)
        return SessionInfo(path.stem, self._provider, session.cwd, _title(session), session.updated_at)


def _same_folder(one: str, other: str) -> bool:
    return one == other or (bool(one) and os.path.realpath(one) == os.path.realpath(other))


def _title(session: stored_session.StoredSession) -> str | None:
    for message in session.messages:
        if message.role == "user" and not is_of_the_program(message):
            text = message.content if isinstance(message.content, str) else _text(message.content)
            if words := " ".join(text.split()):
                return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return None


def _text(blocks: list[dict[str, object]]) -> str:
    return " ".join(text for block in blocks if isinstance(text := block.get("text"), str))


def _rank(info: SessionInfo) -> tuple[datetime, str]:
    return last_update(info), info.session_id


def _cursor(info: SessionInfo) -> str:
    return f"{last_update(info).isoformat()} {info.session_id}"


def _place(cursor: str) -> tuple[datetime, str]:
    time, _, key = cursor.partition(" ")
    try:
        return datetime.fromisoformat(time), key
    except ValueError:
        raise UsageError(f"{cursor!r} is no cursor of a page of sessions: pass the last page's next_cursor") from None
