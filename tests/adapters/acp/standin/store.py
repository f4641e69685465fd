"""Sessions as files: what of them outlives the process."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


class Store:
    """Sessions as files."""

    def __init__(self) -> None:
        self.folder = Path.home() / ".standin" / "sessions"
        self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, number: str) -> dict[str, Any] | None:
        file = self.folder / f"{number}.json"
        if not number.replace("-", "").isalnum() or not file.is_file():
            return None
        return _session(file)

    def write(self, session: dict[str, Any]) -> None:
        # Two turns are never of one moment, however fast they are.
        after = [datetime.fromisoformat(each["updatedAt"]) + timedelta(milliseconds=1) for each in self.all()]
        session["updatedAt"] = max(datetime.now(UTC), *after).isoformat() if after else datetime.now(UTC).isoformat()
        file = self.folder / f"{session['sessionId']}.json"
        part = file.with_suffix(".part")
        part.write_text(json.dumps(session), "utf-8")
        part.replace(file)

    def all(self) -> list[dict[str, Any]]:
        found = (_session(file) for file in sorted(self.folder.glob("*.json")))
        return [session for session in found if session is not None]

    def delete(self, number: str) -> bool:
        known = self.read(number) is not None
        if known:
            (self.folder / f"{number}.json").unlink()
        return known

    def count(self) -> int:
        """Prompts so far, this one included, in all runs."""
        file = self.folder.parent / "prompts"
        with file.open("a") as counted:
            counted.write("prompt\n")
        return len(file.read_bytes().splitlines())


def _session(file: Path) -> dict[str, Any] | None:
    """A session, unless its file is damaged: then there is none."""
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
        messages = found["messages"]
        return found if isinstance(messages, list) and found["updatedAt"] and found["cwd"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
