"""How a library is called without turnproof: what a binding tells, so that a finding can be shown by the library alone.

`turnproof reproduce` writes a file that has the library, a server of the standard library and the bytes of a run. The
part of it that speaks the library's own API comes from the binding's `Reproducer`, or of a session that opens its own
client from its `SessionReproducer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .errors import ProviderError
from .messages import Message, ToolSchema, thaw


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One call of a model: the conversation as the adapter got it, and how the answer was asked for.

    `options` are those of the endpoint (`thinking`, `max_tokens`), as the adapter got them. `wanted` names the member
    of the answer that is looked at (see `LibraryCode`): the code need return no other one. `chunks` are only wanted of
    streamed calls. `left_after` says that the call is cancelled: after so many pieces of text the caller reads no
    further and closes what the library gave. The wanted member is then what the library has told by that time.
    """

    model: str
    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[ToolSchema] = ()
    streamed: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    wanted: str = "text"
    left_after: int | None = None


@dataclass(frozen=True, slots=True)
class LibraryCode:
    """Python source that makes one call.

    `imports` are import statements, one a line. `messages` are expressions for the messages of the conversation, in the
    library's own types: the list of them is the variable `messages` in the body. `opening` and `body` are lines without
    the indentation of the function that they stand in. `opening` makes the object that answers any number of calls,
    with the base URL `url` and any key, without retries of the library's own where the adapter has none; it awaits
    nothing. `body` makes the call. It lets the library's errors through, and returns a dict with the wanted member of
    what the library gave:

    - `text`: the visible text; `thoughts`: the text of the thinking
    - `chunks`: the list of the pieces of text, of a streamed answer
    - `calls`: the tool calls, each `[name, arguments]`
    - `finish`: the library's word for why the answer ended
    - `usage`: a dict with names of `TokenUsage`
    - `whole`: the `repr()` of all that the library gave, where a name is looked for
    """

    imports: Sequence[str]
    messages: Sequence[str]
    body: Sequence[str]
    opening: Sequence[str] = ()


@runtime_checkable
class Reproducer(Protocol):
    """The use of a library in a file of its own. `packages` are the distributions that the file needs, without
    versions: the library, and those it leans on whose version matters.
    """

    packages: Sequence[str]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of this call. Raises ValueError, with the reason, for one that the library cannot make."""
        ...


@runtime_checkable
class ErrorReproducer(Reproducer, Protocol):
    """A `Reproducer` of a library whose errors have classes that say what failed.

    `errors` has the error of the contract for each class, by the name of the class: what the binding makes of it. A
    finding about the class of an error has a file only where the library raised the one that stands for it, so that
    what a binding made of a right error accuses no library. Classes of an SDK may be among them, where the library lets
    these through.
    """

    errors: Mapping[str, type[ProviderError]]


@dataclass(frozen=True, slots=True)
class LibrarySession:
    """A conversation with a library's agent, as turnproof opened it: what is said in it is the file's.

    `options` are those of the endpoint. `streamed` says that what the user is shown is looked at, or counted. `held`
    says that the texts are wanted that the library holds at the end, `cancelled` that a turn is cancelled, `failing`
    that a tool of the run fails.
    """

    model: str
    system: str | None = None
    tools: Sequence[ToolSchema] = ()
    streamed: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    held: bool = False
    cancelled: bool = False
    failing: bool = False


@dataclass(frozen=True, slots=True)
class SessionCode:
    """Python source of a conversation with a library's agent. It stands in an `async def converse(url)`.

    `imports` are import statements, one a line. The other lines have no indentation of the function's:

    - `opening`: opens the agent on the base URL `url`, with any key, without retries of the library's own where the
      binding has none. Where it has tools, `run(name, arguments)` gives what a tool returned in the run, or raises what
      made it fail: a JSON value, or its text with `text_results`.
    - `turn`: says the text `text` and leaves in `reply` the text that the library gives as its answer. It lets the
      library's errors through. A streamed turn calls `show(piece)` with each piece of text.
    - `cancel`: an expression that cancels the running turn, from another thread. It may use names that `turn` sets, and
      the event loop, which is `loop`.
    - `held`: an expression for the texts of the messages that the library holds, in their order.

    `cancel` and `held` are None for what the library does not have.
    """

    imports: Sequence[str]
    opening: Sequence[str]
    turn: Sequence[str]
    cancel: str | None = None
    held: str | None = None
    text_results: bool = False


@runtime_checkable
class SessionReproducer(Protocol):
    """The use of a library's agent in a file of its own. `packages` are as a `Reproducer` has them."""

    packages: Sequence[str]

    def code(self, session: LibrarySession) -> SessionCode:
        """The source of this conversation. Raises ValueError, with the reason, for one that the library cannot have."""
        ...


def source_of(value: Any) -> str:
    """A JSON value of a message (arguments, a result, a schema) as Python source."""
    return repr(thaw(value))
