"""What an agent of a run stands on: folders of its own, the processes that it starts, and its sessions by label.

Ids are the agent's, and other ones in every run; labels are the scenario's. Evidence has labels alone, so that the same
conversation gives the same evidence.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ...scenarios.model import FIRST, NOBODY, PROJECT
from .agent_processes import Processes

NO_SESSION = "00000000-dead-4bad-8bad-00000000dead"
"""An id that no agent has given to a session."""

_NOTES = "Water the beds at seven.\n"


class Untold(Exception):
    """A step needs the id of a session, and the agent has told none."""


class AgentSandbox:
    """The folders of one run, below `root`. What an agent starts is found among this process's descendants."""

    def __init__(self, root: str) -> None:
        adopt_orphans()
        self._root = Path(os.path.realpath(root))
        self.home = self._root / "home"
        self.home.mkdir()
        self._folders: dict[str, Path] = {}
        self.cwd = PROJECT
        self.folder(PROJECT)
        self.processes = Processes()
        self.labels = Labels()

    def folder(self, label: str) -> Path:
        """The working directory of that label, with a file in it."""
        if label not in self._folders:
            folder = self._root / label
            folder.mkdir()
            (folder / "notes.txt").write_text(_NOTES, encoding="utf-8")
            self._folders[label] = folder
        return self._folders[label]

    def label_of(self, cwd: str) -> str:
        """The label of a working directory; empty for an unknown one."""
        found = (label for label, folder in self._folders.items() if os.path.realpath(cwd) == str(folder))
        return next(found, "") if cwd else ""

    def changed(self) -> tuple[str, ...]:
        """What is in the working directories beside what was put there, and what of that is gone or changed."""
        return tuple(sorted(f"{label}/{name}" for label in self._folders for name in self._changed_in(label)))

    def _changed_in(self, label: str) -> Iterator[str]:
        folder = self._folders[label]
        notes = folder / "notes.txt"
        if not notes.is_file() or notes.read_text(encoding="utf-8") != _NOTES:
            yield notes.name
        yield from (str(path.relative_to(folder)) for path in folder.rglob("*") if path != notes)

    def damage(self, session: str) -> int:
        """Cut in half every file of the agent's whose path has the id of the session, or its beginning; how many."""
        found = [
            path for path in self.home.rglob("*") if path.is_file() and _is_of(path.relative_to(self.home), session)
        ]
        for path in found:
            data = path.read_bytes()
            path.write_bytes(data[: len(data) // 2])
        return len(found)


class Labels:
    """The ids of sessions by the scenario's labels, and the other way round."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._expected = FIRST

    def expect(self, label: str) -> None:
        """The next id that is not known yet is that of this session."""
        self._expected = label

    def label_of_session(self, session_id: str | None) -> str | None:
        """The label of a session, once its id is told."""
        if session_id is None:
            return None
        for label, known in self._ids.items():
            if known == session_id:
                return label
        if session_id == NO_SESSION:
            return NOBODY
        label, self._expected = self._expected or self._other_label(), ""
        self._ids[label] = session_id
        return label

    def label_in_list(self, session_id: str) -> str:
        """The label of a session in a list, where one that the scenario does not speak of is another one."""
        expected, self._expected = self._expected, ""
        label = self.label_of_session(session_id)
        self._expected = expected
        assert label is not None
        return label

    def id_of(self, label: str) -> str:
        """The id of a session. Raises Untold where the agent never told it."""
        if label == NOBODY:
            return NO_SESSION
        if label not in self._ids:
            raise Untold(f"the agent has told no id of the session {label!r}")
        return self._ids[label]

    def labelled(self, text: str) -> str:
        """A text with labels in place of ids."""
        for label, session_id in [*self._ids.items(), (NOBODY, NO_SESSION)]:
            text = text.replace(session_id, f"[{label}]")
        return text

    def _other_label(self) -> str:
        return f"other-{sum(label.startswith('other-') for label in self._ids) + 1}"


def _is_of(path: Path, session: str) -> bool:
    return session in str(path) or session.partition("-")[0] in path.name


def adopt_orphans() -> None:
    """Have processes whose parent ends become ours, so that they are found. On Linux; elsewhere nothing happens."""
    if sys.platform != "linux":
        return
    import ctypes

    set_child_subreaper = 36
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)
