"""An exception as text, in the form of Python's own tracebacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ..._base.printable import printable
from .model import Frame, Raised

_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def format_frame(frame: Frame) -> str:
    """One line: `adapters/mine.py:12 in Mine.complete`, with the source line behind a colon where there is one."""
    place = f"{_path(frame)}:{frame.line}" if frame.line else _path(frame)
    return printable(f"{place} in {frame.function}" + (f": {frame.source}" if frame.source else ""))


def at_own_frame(raised: Raised | None) -> str:
    """Where the subject's own code raised it, to stand behind the exception in a sentence: ` at adapters/mine.py:12`.
    Empty where that is not known."""
    frame = raised.own_frame if raised is not None else None
    return f" at {frame.location}" if frame is not None else ""


def format_raised(raised: Raised, *, fold: bool = True) -> str:
    """The whole traceback, what is behind the exception first, as Python prints it. No newline at its end.

    Frames that are not the subject's own say whose they are behind their line. `fold` leaves out turnproof's: a line
    says how many there are.
    """
    return printable("\n".join(_exception(raised, fold)))


def _exception(raised: Raised, fold: bool) -> Iterator[str]:
    for linked, words in ((raised.cause, _CAUSE), (raised.context, _CONTEXT)):
        if linked is not None:
            yield from (*_exception(linked, fold), "", words, "")
    if raised.frames:
        yield "Traceback (most recent call last):"
        head, tail = raised.frames[: raised.omitted_at], raised.frames[raised.omitted_at :]
        yield from _frames(head, fold)
        if raised.frames_omitted:
            yield f"  ... {raised.frames_omitted} more frames ..."
        yield from _frames(tail, fold)
    yield from raised.title.split("\n")
    for note in raised.notes:
        yield from note.split("\n")
    for number, member in enumerate(raised.exceptions, 1):
        yield f"  | member {number}:"
        yield from (f"  | {line}".rstrip() for line in _exception(member, fold))
    if raised.exceptions_omitted:
        some = "1 more exception behind it is" if raised.exceptions_omitted == 1 else ""
        yield f"({some or f'{raised.exceptions_omitted} more exceptions behind it are'} left out)"


def _frames(frames: tuple[Frame, ...], fold: bool) -> Iterator[str]:
    for ours, group in groupby(frames, key=lambda frame: fold and frame.owner == "turnproof"):
        some = list(group)
        if ours:
            yield f"  ... {len(some)} {'frame' if len(some) == 1 else 'frames'} of turnproof ..."
            continue
        for frame in some:
            owner = "" if frame.owner == "subject" else f"  [{frame.owner}]"
            yield f'  File "{_path(frame)}", line {frame.line}, in {frame.function}{owner}'
            if frame.source:
                yield f"    {frame.source}"


def _path(frame: Frame) -> str:
    """The file, with the folder that it is relative to where that is not the project."""
    return f"{frame.root}/{frame.file}" if frame.root in ("site-packages", "stdlib") else frame.file
