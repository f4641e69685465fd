"""The sessions that a program lists, in turnproof's terms."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from turnproof.sessions import SessionInfo, SessionPage


def page(answer: Mapping[str, Any], provider: str, cwd: str | None) -> SessionPage:
    """One page, of this working directory alone: not every program heeds the one it was asked for."""
    infos = (_info(row, provider) for row in _rows(answer.get("sessions")))
    matching = tuple(info for info in infos if info.session_id and (cwd is None or same_folder(info.cwd, cwd)))
    cursor = answer.get("nextCursor")
    return SessionPage(matching, cursor if isinstance(cursor, str) and cursor else None)


def same_folder(one: str, other: str) -> bool:
    """Whether two paths mean one folder."""
    return os.path.realpath(one) == os.path.realpath(other)


def _rows(rows: object) -> Iterable[Mapping[str, Any]]:
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _info(row: Mapping[str, Any], provider: str) -> SessionInfo:
    title = row.get("title")
    return SessionInfo(
        session_id=str(row.get("sessionId") or ""),
        provider=provider,
        cwd=str(row.get("cwd") or ""),
        title=" ".join(title.split()) if isinstance(title, str) and title.strip() else None,
        updated_at=_time(row.get("updatedAt")),
    )


def _time(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A number of our time in seconds has ten digits; with more, it counts milliseconds.
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
