"""A prompt as the row of cells that is counted and cached: tools, instructions, then the conversation.

Cells are made from the neutral form, so that an instruction weighs the same under either of its two roles, and a text
the same as a string or in a block. Ids weigh nothing.

The prompt cache is implicit: a prefix that was seen within five minutes is counted as cached. What is cached is a part
of the prompt's tokens, grows in steps and never reaches the prompt's end (`openai-chat.md` §5: 1024 of 1150, 1280 of
1370; `zai.md` §5). Newer models count by single tokens, say what they wrote, and work by breakpoints
(`openai_prompt_cache.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ...messages import Part
from ...tokens import part_tokens, text_tokens
from ..base import Call, ModelFacts, PromptUsage
from ..neutral_cells import tool_cell
from ..openai_prompt_cache import Piece, limits_of, with_breakpoints
from ..prefix_cache import Cell, PrefixStore, in_steps, kept_for_the_latest, nothing_to_write, one_by_one
from .models import IMPLICIT_CACHE, ONE_TOKEN_STEPS
from .surfaces import ChatCall, Surface

_PART_TOKENS = 3
"""What frames a message; the service's own count has 3 or 4 for each."""

_encode = msgspec.json.Encoder().encode


def count(call: Call) -> int:
    """Tokens of the whole prompt, cached or not."""
    return sum(cell.tokens for cell in cells(call))


@kept_for_the_latest
def cells(call: Call) -> Sequence[Cell]:
    """The prompt's cells in prefix order, one for each tool, instruction and part. Not to be changed.

    Each ends a prefix that may be found again, at models that take no breakpoints.
    """
    return list(one_by_one(piece.cell for piece in _pieces(call)))


def _pieces(call: Call) -> Iterator[Piece]:
    for tool in call.tools:
        yield Piece(tool_cell(tool))
    for part in call.system:
        yield Piece(_cell("system", part), part.cache is not None, ends_input=True)
    for message in call.messages:
        last = len(message.parts) - 1
        for n, part in enumerate(message.parts):
            ends_input = n == last and message.role != "model"
            yield Piece(_cell(message.role, part), part.cache is not None, ends_input)


def _cell(role: str, part: Part) -> Cell:
    return Cell(_content(role, part), _weight(part), mark="5m")


def _content(role: str, part: Part) -> bytes:
    return role.encode() + b"\0" + _encode(replace(part, cache=None))


def _weight(part: Part) -> int:
    hidden = part.provider_data.data if part.provider_data is not None else {}
    return (
        part_tokens(part) + _PART_TOKENS + sum(text_tokens(each) for each in hidden.values() if isinstance(each, str))
    )


_STEPS: Mapping[Surface, int] = {Surface.ZAI: 64}
_STEP = 128


class ChatCache:
    """One run's cache. Caches are kept per model; an alias and the id it stands for share one."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        surface, whole = ChatCall.at_surface(call, self._surface).surface, count(call)
        if surface is Surface.OLLAMA:
            # What does not fit was dropped before anything was counted.
            return PromptUsage(min(whole, facts.context_tokens)), nothing_to_write
        if call.operation != "generate" or IMPLICIT_CACHE not in facts.features:
            return PromptUsage(whole), nothing_to_write
        if ONE_TOKEN_STEPS in facts.features:
            options = call.settings.get("prompt_cache_options")
            row = with_breakpoints(_pieces(call), options)
            return self._store.account_for(row, facts, now, limits=limits_of(options))
        usage, commit = self._store.account_for(cells(call), facts, now)
        return in_steps(whole, min(usage.cache_read, whole - 1), _STEPS.get(surface, _STEP)), commit
