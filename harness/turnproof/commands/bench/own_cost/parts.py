"""What a part of the measuring is, and how rounds of all parts become figures and ratios."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

from ....errors import HarnessError
from ..figures import spread
from ..report import Own, OwnFigure, OwnRatio

Key: TypeAlias = tuple[str, str]
"""A figure, and of whom."""

Compared: TypeAlias = tuple[str, Key, Key]
"""A ratio: what it is called, and what of whom is divided by what of whom."""


class NotInstalled(Exception):
    """A tool that a part holds turnproof against is not there. The message says what to install."""


class Part(Protocol):
    """Some figures in one unit, and which of them are divided by which.

    Opened by `with`, which raises NotInstalled where nothing at all can be measured.
    """

    @property
    def unit(self) -> str: ...

    @property
    def ratios(self) -> Sequence[Compared]: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *raised: object) -> None: ...

    def round(self) -> Mapping[Key, float]:
        """Every figure once."""


class FolderPart:
    """A part that has a temporary folder while it is open.

    `module` is what has to be installed for it; where it is not, the part says `not_installed`.
    """

    module = ""
    not_installed = ""
    folder: Path

    def __enter__(self) -> Self:
        if self.module and find_spec(self.module) is None:
            raise NotInstalled(self.not_installed)
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        return self

    def __exit__(self, *raised: object) -> None:
        self._temporary.cleanup()


def measure_parts(parts: Sequence[Callable[[], Part]], rounds: int, progress: Callable[[int, int, str], None]) -> Own:
    """All parts, round by round. What fails in one is a problem of that one."""
    notes: list[str] = []
    problems: list[str] = []
    open_parts: list[tuple[Part, list[Mapping[Key, float]]]] = []
    with ExitStack() as stack:
        for make in parts:
            try:
                part = make()
                stack.enter_context(part)
            except NotInstalled as missing:
                notes.append(str(missing))
            else:
                open_parts.append((part, []))
        for number in range(rounds):
            for place, (part, found) in enumerate(open_parts, 1):
                progress(number * len(open_parts) + place, rounds * len(open_parts), type(part).__name__)
                if len(found) == number:
                    try:
                        found.append(part.round())
                    except HarnessError:
                        raise
                    except Exception as error:  # a tool of somebody else's failed: a reason and not our end
                        problems.append(f"{type(part).__name__}: {type(error).__name__}: {error}")
    complete = [(part, found) for part, found in open_parts if len(found) == rounds]
    return Own(
        figures=tuple(figure for part, found in complete for figure in _figures(part, found)),
        ratios=tuple(ratio for part, found in complete for ratio in _ratios(part, found)),
        problems=tuple(" ".join(problem.split()) for problem in problems),
        notes=tuple(notes),
    )


def _figures(part: Part, rounds: Sequence[Mapping[Key, float]]) -> Iterator[OwnFigure]:
    for figure, of in rounds[0]:
        values = tuple(each[figure, of] for each in rounds)
        yield OwnFigure(figure, of, min(values), part.unit, values)


def _ratios(part: Part, rounds: Sequence[Mapping[Key, float]]) -> Iterator[OwnRatio]:
    for name, of, to in part.ratios:
        if of not in rounds[0] or to not in rounds[0]:
            continue
        quotients = [each[of] / each[to] for each in rounds]
        yield OwnRatio(name, _whose(of, to), _whose(to, of), *spread(quotients))


def _whose(key: Key, other_key: Key) -> str:
    """Whose it is; where both are the same one's, which of its figures."""
    return key[1] if key[1] != other_key[1] else f"{key[1]}, {key[0]}"
