"""From an exception to data. Whatever the exception is made of, it is told as well as it can be, and nothing is raised.

Everything is bounded: evidence is written for each failure, and what a subject raises may hold a whole response, a
thousand frames, or a chain that leads back to itself.
"""

from __future__ import annotations

import linecache
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from types import CodeType, TracebackType
from typing import Any, TypeVar

from ..._base.secrets import mask
from .frame_owners import Owners
from .model import Frame, Raised

T = TypeVar("T")

FIRST_FRAMES = LAST_FRAMES = 32
"""Frames that are kept of a deep traceback, from either end."""

EXCEPTIONS = 32
"""Exceptions in all, with those behind the first one."""

DEPTH = 12
"""Exceptions one behind the other."""

NOTES = 20
MESSAGE = 4000
NOTE = 1000
SOURCE = 300
NAME = 300
"""Characters, the two of the last line in frames and classes alike."""


def capture(error: BaseException, owners: Owners | None = None, secrets: Iterable[str] = ()) -> Raised:
    """The exception as data, without the secrets. Never raises."""
    return _Capture(owners or Owners(), tuple(secrets)).exception(error, ())


class _Capture:
    """One exception, and what is left of the room for those behind it."""

    def __init__(self, owners: Owners, secrets: tuple[str, ...]) -> None:
        self._owners = owners
        self._secrets = secrets
        self._room = EXCEPTIONS
        self._checked: set[str] = set()

    def exception(self, error: BaseException, above: tuple[BaseException, ...]) -> Raised:
        self._room -= 1
        above = (*above, error)
        hides = _attribute(error, "__suppress_context__", bool) is True
        cause = _attribute(error, "__cause__", BaseException)
        context = _attribute(error, "__context__", BaseException)
        members = _members(error)
        visible_context = context if cause is None and not hides else None
        told_cause, told_context = self._capture_linked(cause, above), self._capture_linked(visible_context, above)
        captured = [one for one in (self._capture_linked(member, above) for member in members) if one is not None]
        missing = (cause is not None and told_cause is None) + (visible_context is not None and told_context is None)
        frames, omitted = self._frames(error)
        kind = type(error)
        return Raised(
            type=self._text(_attribute(kind, "__qualname__", str) or "?", NAME),
            module=self._text(_attribute(kind, "__module__", str) or "", NAME),
            message=self._text(text_of(error), MESSAGE),
            frames=frames,
            notes=self._notes(error),
            cause=told_cause,
            context=told_context,
            suppressed=hides and cause is None and context is not None,
            exceptions=tuple(captured),
            frames_omitted=omitted,
            omitted_at=FIRST_FRAMES if omitted else 0,
            exceptions_omitted=missing + len(members) - len(captured),
        )

    def _capture_linked(self, error: BaseException | None, above: tuple[BaseException, ...]) -> Raised | None:
        if error is None or self._room <= 0 or len(above) >= DEPTH or any(error is one for one in above):
            return None
        return self.exception(error, above)

    # -- frames ------------------------------------------------------------------------------------------------

    def _frames(self, error: BaseException) -> tuple[tuple[Frame, ...], int]:
        every = _steps(_attribute(error, "__traceback__", TracebackType))
        first = list(islice(every, FIRST_FRAMES))
        last: deque[TracebackType] = deque(maxlen=LAST_FRAMES)
        omitted = 0
        for step in every:
            omitted += len(last) == LAST_FRAMES
            last.append(step)
        frames = [self._frame(step) for step in (*first, *last)]
        if isinstance(error, SyntaxError):
            frames += self._place_of_syntax(error)
        return tuple(frames), omitted

    def _frame(self, step: TracebackType) -> Frame:
        code, names = step.tb_frame.f_code, step.tb_frame.f_globals
        line = step.tb_lineno or 0  # typeshed does not know that there may be none
        module, found = names.get("__name__"), names.get("__file__")
        return self._new_frame(
            code.co_filename,
            line,
            code.co_qualname,
            module if isinstance(module, str) else "",
            found if isinstance(found, str) else "",
            self._source(code, line, step.tb_lasti, names),
        )

    def _place_of_syntax(self, error: SyntaxError) -> Iterator[Frame]:
        """The line that could not be compiled, as the deepest frame."""
        file, line = _attribute(error, "filename", str), _attribute(error, "lineno", int)
        if file:
            text = (_attribute(error, "text", str) or "").strip()
            yield self._new_frame(file, line or 0, "<module>", "", file, self._text(text, SOURCE))

    def _new_frame(self, file: str, line: int, function: str, module: str, module_file: str, source: str) -> Frame:
        place = self._owners.place(file)
        where = file if place.root != "none" else module_file
        return Frame(
            file=self._text(place.file, NAME),
            line=line,
            function=self._text(function, NAME),
            owner=self._owners.owner(module, where),
            source=source,
            module=self._text(module, NAME),
            root=place.root,
        )

    def _source(self, code: CodeType, line: int, instruction: int, names: dict[str, Any]) -> str:
        file = code.co_filename
        try:
            if file not in self._checked:
                self._checked.add(file)
                linecache.checkcache(file)
            text = linecache.getline(file, line, names)
        except Exception:  # a module's loader, which is asked for it, may be anybody's
            return ""
        around = _column(code, instruction, text) if len(text) > SOURCE else 0
        return self._text(text.strip(), SOURCE, around)

    # -- texts -------------------------------------------------------------------------------------------------

    def _notes(self, error: BaseException) -> tuple[str, ...]:
        notes = (_attribute(error, "__notes__", list) or [])[: NOTES + 1]
        texts = [self._text(note if type(note) is str else text_of(note), NOTE) for note in notes]
        return (*texts[:NOTES], "(more notes are left out)") if len(texts) > NOTES else tuple(texts)

    def _text(self, text: str, limit: int, around: int = 0) -> str:
        """The text without secrets, cut to `limit` characters; around this one, where the cut would lose it."""
        if type(text) is str and len(text) <= min(limit, NAME):  # a subclass may be hashed by anybody's code
            return _masked(text, self._secrets)
        begin = max(0, min(around - limit // 2, len(text) - limit))
        end = min(len(text), begin + limit)
        more = f"... ({len(text) - end} more characters)" if end < len(text) else ""
        return f"{'...' if begin else ''}{mask(text, self._secrets, begin, end)}{more}"


@lru_cache(maxsize=4096)
def _masked(text: str, secrets: tuple[str, ...]) -> str:
    """A short text without secrets. The frames of most exceptions are the same: those of a call that fails."""
    return mask(text, secrets)


def _attribute(value: object, name: str, kind: type[T]) -> T | None:
    """An attribute of this type, None for anything else: classes may have properties of these names."""
    try:
        found = getattr(value, name)
        return found if isinstance(found, kind) else None
    except Exception:
        return None


def _steps(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _column(code: CodeType, instruction: int, line: str) -> int:
    """The character of the line, without its indentation, at which the expression of an instruction begins."""
    position = next(islice(code.co_positions(), max(0, instruction // 2), None), None)
    before = line.encode(errors="replace")[: (position and position[2]) or 0].decode(errors="ignore")
    return len(before.lstrip())


def _members(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return []
    members = _attribute(error, "exceptions", tuple) or ()
    return [member for member in members if isinstance(member, BaseException)]


def text_of(value: object) -> str:
    """`str(value)`, or a phrase in its place that says why it cannot be had.

    The text of an exception is code of whoever wrote its class. This never raises for what the value does, and is
    always a plain `str`: an instance of a subclass could not be sent to every other process.
    """
    try:
        return "".join((str(value),))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as wrong:
        return f"(its text cannot be had: {type(wrong).__name__})"
