"""How a library is called without turnproof: what a binding tells, so that a finding can be shown by the library alone.

`turnproof reproduce` writes a file that has the library, a server of the standard library and the bytes of a run. The
part of it that speaks the library's own API comes from the binding's `Reproducer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .messages import Message, ToolSchema, thaw


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One call of a model: the conversation as the adapter got it, and how the answer was asked for.

    `options` are those of the endpoint (`thinking`, `max_tokens`), as the adapter got them. `wanted` names the member
    of the answer that is looked at (see `LibraryCode`): the code need return no other one. `chunks` are only wanted of
    streamed calls.
    """

    model: str
    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[ToolSchema] = ()
    streamed: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    wanted: str = "text"


@dataclass(frozen=True, slots=True)
class LibraryCode:
    """Python source that makes one call.

    `imports` are import statements, one a line. `messages` are expressions for the messages of the conversation, in the
    library's own types: the list of them is the variable `messages` in the body. `body` are the lines of
    `async def ask(url)`, without the indentation of the function. It calls the library with that base URL, and any key,
    without retries of the library's own where the adapter has none. It lets the library's errors through, and returns a
    dict with the wanted member of what the library gave:

    - `text`: the visible text; `thoughts`: the text of the thinking
    - `chunks`: the list of the pieces of text, of a streamed answer
    - `calls`: the tool calls, each `[name, arguments]`
    - `finish`: the library's word for why the answer ended
    - `usage`: a dict with names of `TokenUsage`
    """

    imports: Sequence[str]
    messages: Sequence[str]
    body: Sequence[str]


@runtime_checkable
class Reproducer(Protocol):
    """The use of a library in a file of its own. `packages` are the distributions that the file needs, without
    versions: the library, and those it leans on whose version matters.
    """

    packages: Sequence[str]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of this call. Raises ValueError, with the reason, for one that the library cannot make."""
        ...


def source_of(value: Any) -> str:
    """A JSON value of a message (arguments, a result, a schema) as Python source."""
    return repr(thaw(value))
