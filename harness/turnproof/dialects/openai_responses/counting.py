"""A prompt as the row of cells that is counted and cached: tools, instructions, then the conversation.

Ids weigh nothing; encrypted reasoning weighs what it is long.

The prompt cache works by itself, from 1024 tokens on, in steps of 128 (`openai-chat.md` §5). Since GPT-5.6 it counts by
single tokens, says what was written, and takes breakpoints of the request (`openai_prompt_cache.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...messages import Part, Thought
from ...tokens import part_tokens
from ..atoms import token_of
from ..base import Call, ModelFacts, PromptUsage
from ..neutral_cells import part_content, tool_cell
from ..openai_prompt_cache import limits_of, marks_itself
from ..prefix_cache import (
    Cell,
    PrefixStore,
    Ttl,
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

    Each but the last ends a prefix that may be found again; where the request marks its breakpoints itself, only those
    do.
    """
    explicit = marks_itself(call.settings.get("prompt_cache_options"))
    row = one_by_one(_row(call, explicit=explicit))
    return list(row) if explicit else open_ended(row)


def _row(call: Call, *, explicit: bool) -> Iterator[Cell]:
    for tool in call.tools:
        yield tool_cell(tool, mark=None if explicit else "5m")
    for part in call.system:
        yield _cell(part, b"system", explicit=explicit)
    for message in call.messages:
        for part in message.parts:
            yield _cell(part, message.role.encode(), explicit=explicit)


def _cell(part: Part, role: bytes, *, explicit: bool) -> Cell:
    token = (token_of(part) or "") if isinstance(part, Thought) else ""
    # Base64 writes three bytes as four characters.
    tokens = part_tokens(part) + _PART_TOKENS + len(token) * 3 // 16
    mark: Ttl | None = "5m" if part.cache is not None or not explicit else None
    return Cell(b"%b\0%b\0%b" % (role, token.encode(), part_content(part)), tokens, mark=mark)


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
        newer = ONE_TOKEN_STEPS in facts.features
        limits = limits_of(call.settings.get("prompt_cache_options")) if newer else None
        usage, commit = self._store.account_for(row, facts, now, limits=limits)
        if newer:
            return usage, commit
        return in_steps(whole, usage.cache_read, STEP), commit
