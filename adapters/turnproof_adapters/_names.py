"""Words that an API accepts as tool names and call ids, and the way back.

A word that the API would refuse becomes its legal characters plus a digest of the whole word: where only letters,
digits, `_` and `-` are legal, `mcp.srv.ls` becomes for instance `mcp_srv_ls-x1f0c9a7be2`. Words that already end in
such a digest are rewritten too, so a rewritten name never equals another tool's own name. The result depends on nothing
but the word: declarations, calls and replayed history agree, whatever else a request holds, and an earlier turn keeps
its bytes when a tool is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from turnproof.messages import Message, ToolSchema

_REWRITTEN = re.compile(r"-x[0-9a-f]{10}$")
_MADE_UP = re.compile(r"unnamed-[0-9a-f]{16}-\d+")


@dataclass(frozen=True, slots=True)
class Naming:
    """What an API accepts: `first` and `rest` are regular expressions of one character; `_` must match both."""

    first: str
    rest: str
    limit: int

    def name(self, name: str) -> str:
        """The name under which a tool goes on the wire; its own wherever that is legal."""
        return name if self._is_legal(name) and len(name) <= self.limit else self._rewritten(name, self.limit)

    def unbounded(self, word: str) -> str:
        """The same for a word whose length the API does not limit."""
        return word if self._is_legal(word) else self._rewritten(word, None)

    def restorer(self, own_names: Callable[[], Iterable[str]]) -> Callable[[str], str]:
        """A function from wire names to tools' own. `own_names` is asked only when a rewritten name comes back."""

        def restore(name: str) -> str:
            if not is_rewritten(name):
                return name
            return next((own for own in own_names() if self.name(own) == name), name)

        return restore

    def _is_legal(self, word: str) -> bool:
        return re.fullmatch(f"{self.first}{self.rest}*", word) is not None and not is_rewritten(word)

    def _rewritten(self, word: str, limit: int | None) -> str:
        tail = f"-x{blake2b(word.encode('utf-8', 'surrogatepass'), digest_size=5).hexdigest()}"
        # Of a word far beyond the limit no more is looked at than can be kept.
        room = None if limit is None else limit - len(tail)
        legal = re.sub(f"(?!{self.rest}).", "_", word[:room], flags=re.DOTALL)
        if re.match(self.first, legal + tail) is None:
            legal = f"_{legal}"[:room]
        return legal + tail


def is_rewritten(name: str) -> bool:
    """Whether a wire name can be the rewritten form of another."""
    return _REWRITTEN.search(name) is not None


def tool_names(messages: Sequence[Message], tools: Sequence[ToolSchema] | None) -> Iterator[str]:
    """Names under which a returning call may be known: the declared tools first, then those of earlier calls."""
    yield from (tool.name for tool in tools or ())
    yield from (call.name for message in messages for call in message.calls)


def made_up_id(answer: str, place: int) -> str:
    """An id for a call without one: the same for the same call of the same answer, and no other.

    `answer` tells the answer from every other of the conversation; `place` is the call's number in it.
    """
    return f"unnamed-{blake2b(answer.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}-{place}"


def is_made_up(call_id: str) -> bool:
    """Whether an id was made up here: it is nothing to a service that gives none."""
    return _MADE_UP.fullmatch(call_id) is not None
