"""Which session is meant: by its id, the beginning of one, its number in the list, or as the last."""

from __future__ import annotations

from collections.abc import Sequence

from ..._base.suggestions import did_you_mean
from ...errors import UsageError
from ...sessions import SessionInfo, last_update
from .source import Source

_MANY = 5
_DIGITS = 4


def newest_first(source: Source, cwd: str | None) -> list[SessionInfo]:
    """The sessions of a folder (None: of all), in the order in which they are numbered."""
    return sorted(source.list_sessions(cwd), key=last_update, reverse=True)


def select_sessions(source: Source, words: Sequence[str], cwd: str | None, *, hint: str = "") -> list[SessionInfo]:
    """The session that each word means, once. Numbers are those of the list of that folder, 1 is the newest; ids are
    looked for in other folders too.

    Where there is no list, a word is taken for an id. Raises UsageError for a word that means none, with what else is
    to be known of it (`hint`), or several.
    """
    if not source.can.can_list:
        for word in words:
            if word.isdecimal() and len(word) <= _DIGITS:
                # A program may take a number for one of a list of its own.
                raise UsageError(f"{source.name} has no list that {word} could be a number in: write the id")
        return [SessionInfo(word) for word in dict.fromkeys(words)]
    local = newest_first(source, cwd)
    everywhere: list[SessionInfo] | None = local if cwd is None else None
    found: dict[str, SessionInfo] = {}
    for word in words:
        info = _find_session(source, word, local)
        if info is None:
            everywhere = newest_first(source, None) if everywhere is None else everywhere
            info = _by_id(word, everywhere)
        if info is None:
            raise UsageError(_unknown(source, word, local, everywhere or (), cwd) + (f" ({hint})" if hint else ""))
        found[info.session_id] = info
    return list(found.values())


def usable(info: SessionInfo) -> SessionInfo:
    """The same, if it can be resumed. Raises UsageError with the reason."""
    if info.problem is not None:
        raise UsageError(f"session {info.session_id!r} cannot be resumed: {info.problem}")
    return info


def enter(source: Source, info: SessionInfo | None, *, last: bool, cwd: str | None) -> str:
    """Open a session: this one; else the last of that folder (None: of all), if that is asked for; else the one that
    the settings name. Its id, or "" where that is not known before a turn. Raises UsageError where there is none.
    """
    if info is not None:
        source.enter(info)
        return info.session_id
    if not last:
        return source.enter_configured()
    if cwd is not None:
        found = source.enter_last(cwd)
    else:
        newest = next((info for info in newest_first(source, None) if info.problem is None), None)
        found = None if newest is None else newest.session_id
        if newest is not None:
            source.enter(newest)
    if found is None:
        raise UsageError(nothing(source, cwd))
    return found


def nothing(source: Source, cwd: str | None) -> str:
    """That there is no session in a folder (None: in any), and where else one could look."""
    elsewhere = ["--all looks in every folder"] if cwd is not None else []
    if source.home is not None:
        elsewhere.append("--home DIR in another home" if elsewhere else "--home DIR looks in another home")
    where = f" in {cwd}" if cwd is not None else ""
    return f"{source.name} has no session{where}{_home(source)}" + (f"; {', '.join(elsewhere)}" if elsewhere else "")


def _home(source: Source) -> str:
    return f" (its home is {source.home})" if source.home is not None else ""


def _unknown(
    source: Source, word: str, local: Sequence[SessionInfo], everywhere: Sequence[SessionInfo], cwd: str | None
) -> str:
    what = f"{source.name} has no session {word!r}"
    if near := did_you_mean(word, [one.session_id for one in everywhere]):
        return what + near
    if not everywhere:
        return f"{what}; it has none at all{_home(source)}"
    many = f"{len(local)} in {cwd}, {len(everywhere)} in all" if cwd is not None else f"{len(everywhere)} in all"
    return f"{what}; it has {many}: `turnproof sessions list` with --all shows them"


def _find_session(source: Source, word: str, local: Sequence[SessionInfo]) -> SessionInfo | None:
    for info in local:
        if info.session_id == word:
            return info
    if word.isdecimal() and 1 <= int(word) <= len(local):
        return local[int(word) - 1]
    return _by_id(word, local)


def _by_id(word: str, infos: Sequence[SessionInfo]) -> SessionInfo | None:
    found = [info for info in infos if word and info.session_id.startswith(word)]
    exact = next((info for info in found if info.session_id == word), None)
    if exact is not None or len(found) < 2:
        return exact or next(iter(found), None)
    names = [info.session_id for info in found]
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    raise UsageError(f"{word!r} could be any of {', '.join(names[:_MANY])}{more}: write more of it")
