"""An exception as data, with the exceptions behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

Owner: TypeAlias = Literal["subject", "sdk", "turnproof", "library"]
"""Whose code: the subject's own, what it has installed (an SDK, an HTTP client), turnproof's, or Python's library."""

Root: TypeAlias = Literal["project", "site-packages", "import-path", "stdlib", "none"]
"""What a file is relative to: the working directory, the folder of installed packages, another folder of `sys.path`,
the standard library, or nothing (only its name is known, or it is no file)."""


class Frame(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One frame of a traceback. `file` has forward slashes and is relative to `root`; `line` is 0 where none is known.

    `function` is the qualified name (`Adapter.complete`), and `source` the line without indentation, empty where it
    cannot be had. Of a very long line it is the part around the expression that failed.
    """

    file: str
    line: int
    function: str
    owner: Owner
    source: str = ""
    module: str = ""
    root: Root = "project"

    @property
    def location(self) -> str:
        """`file:line`, or the file alone where the line is not known."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def in_project(self) -> bool:
        """Whether `file` can be opened from the working directory, as an editor or a code host does."""
        return self.root == "project"


class Raised(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An exception. `frames` are in the order of a Python traceback: the deepest one, which raised it, is the last.

    `cause` is the `__cause__`, `context` the `__context__` where Python would show it, and `suppressed` says that
    there was one that `from None` hid. `exceptions` are the members of an exception group.

    Where there was too much: `frames_omitted` frames are left out behind the first `omitted_at` of `frames`, and
    `exceptions_omitted` counts causes, contexts and members that are left out (also those of a chain that leads back
    to itself).
    """

    type: str
    module: str
    message: str = ""
    frames: tuple[Frame, ...] = ()
    notes: tuple[str, ...] = ()
    cause: Raised | None = None
    context: Raised | None = None
    suppressed: bool = False
    exceptions: tuple[Raised, ...] = ()
    frames_omitted: int = 0
    omitted_at: int = 0
    exceptions_omitted: int = 0

    @property
    def name(self) -> str:
        """The class as Python tells it: with its module, unless it is a builtin."""
        return self.type if self.module in ("builtins", "__main__", "") else f"{self.module}.{self.type}"

    @property
    def title(self) -> str:
        """The last line of its traceback: `json.decoder.JSONDecodeError: Expecting value`."""
        return f"{self.name}: {self.message}" if self.message else self.name

    @property
    def own_frame(self) -> Frame | None:
        """The deepest frame of the subject's own code: this exception's, else that of the first one behind it that has
        one. None where the subject's code is in none of them."""
        own = (frame for raised in self.every() for frame in reversed(raised.frames) if frame.owner == "subject")
        return next(own, None)

    def every(self) -> Iterator[Raised]:
        """This exception, then those behind it: its cause or context, then its members, each with its own."""
        yield self
        for linked in (self.cause, self.context, *self.exceptions):
            if linked is not None:
                yield from linked.every()
