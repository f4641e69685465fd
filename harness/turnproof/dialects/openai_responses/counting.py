"""A prompt as the row of cells that is counted and cached: tools, instructions, then the conversation.

Ids weigh nothing; encrypted reasoning weighs what it is long.

The prompt cache works by itself, from 1024 tokens on, in steps of 128 (`openai-chat.md` §5). Since GPT-5.6 it counts by
single tokens, says what was written, and works by breakpoints (`openai_prompt_cache.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...messages import Part, Thought
from ...tokens import part_tokens
from ..atoms import token_of
from ..base import Call, ModelFacts, PromptUsage
from ..neutral_cells import part_content, tool_cell
from ..openai_prompt_cache import Piece, limits_of, with_breakpoints
from ..prefix_cache import (
    Cell,
    PrefixStore,
    in_steps,
    kept_for_the_latest,
    nothing_to_write,
    one_by_one,
    open_ended,
)
from .models import ONE_TOKEN_STEPS

_PART_TOKENS = 2


def count(call: Call) -> int:
    """Tokens of the whole prompt, with what the service held of it before."""
    return sum(cell.tokens for cell in cells(call))


@kept_for_the_latest
def cells(call: Call) -> Sequence[Cell]:
    """One for each tool, instruction and part. Not to be changed.

    Each but the last ends a prefix that may be found again, at models that take no breakpoints.
    """
    return open_ended(one_by_one(piece.cell for piece in _pieces(call)))


def _pieces(call: Call) -> Iterator[Piece]:
    for tool in call.tools:
        yield Piece(tool_cell(tool))
    for part in call.system:
        yield Piece(_cell(part, b"system"), part.cache is not None, ends_input=True)
    for message in call.messages:
        last = len(message.parts) - 1
        for n, part in enumerate(message.parts):
            cell = _cell(part, message.role.encode())
            yield Piece(cell, part.cache is not None, ends_input=n == last and message.role != "model")


def _cell(part: Part, role: bytes) -> Cell:
    token = (token_of(part) or "") if isinstance(part, Thought) else ""
    # Base64 writes three bytes as four characters.
    tokens = part_tokens(part) + _PART_TOKENS + len(token) * 3 // 16
    return Cell(b"%b\0%b\0%b" % (role, token.encode(), part_content(part)), tokens, mark="5m")


STEP = 128


class ResponsesCache:
    """One run's cache. Caches are kept per model; an alias and its dated id share one."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        row = cells(call)
        whole = sum(cell.tokens for cell in row)
        if call.operation != "generate":
            return PromptUsage(whole), nothing_to_write
        if ONE_TOKEN_STEPS in facts.features:
            options = call.settings.get("prompt_cache_options")
            row = with_breakpoints(_pieces(call), options)
            return self._store.account_for(row, facts, now, limits=limits_of(options))
        usage, commit = self._store.account_for(row, facts, now)
        return in_steps(whole, usage.cache_read, STEP), commit
