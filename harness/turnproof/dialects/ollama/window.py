"""How much of a prompt the server keeps: the oldest messages are dropped until the rest fits, without a word.

`server/prompt.go`: instructions stay; the last message stays, however long; results are not kept without the message
that called for them. The server has a prompt cache, and never tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...messages import Message, Text
from ...tokens import message_tokens, text_tokens, tool_tokens
from ..base import Call, ModelFacts, PromptUsage
from .surfaces import OllamaCall, Surface

DEFAULT_WINDOW = 32_768
"""What a server of middling size takes for `num_ctx` where nobody says one: 4k, 32k or 256k by its video memory
(`ollama.md` §4)."""

_TAIL = 4
"""What a template puts behind the last message."""


def window_of(call: Call, facts: ModelFacts) -> int:
    """The tokens that a prompt may have: what the request asks for, as far as the model goes."""
    own_call = OllamaCall.from_call(call)
    options = own_call.body.get("options") if own_call.surface is Surface.NATIVE and own_call.body is not None else None
    window = options.get("num_ctx") if isinstance(options, dict) else None
    return min(window if type(window) is int and window > 0 else DEFAULT_WINDOW, facts.context_tokens)


def truncates(call: Call) -> bool:
    """Whether a prompt that is too long is cut; the native API can be told not to."""
    own_call = OllamaCall.from_call(call)
    return not (
        own_call.surface is Surface.NATIVE and own_call.body is not None and own_call.body.get("truncate") is False
    )


def count(call: Call) -> int:
    """Tokens of the whole prompt, whether or not it fits."""
    return _preamble(call) + sum(map(message_tokens, call.messages))


def first_kept(call: Call, window: int) -> int:
    """The index of the first message that is kept."""
    messages = call.messages
    last = len(messages) - 1
    room = window - _preamble(call)
    instructions = 0
    left = sum(map(message_tokens, messages))
    for n, message in enumerate(messages):
        start = _start_of_loop(messages, n)
        size = left + (message_tokens(messages[start]) if start < n else 0)
        if instructions + size <= room or n == last:
            return start
        left -= message_tokens(message)
        instructions += message_tokens(message) if message.role == "system" else 0
    return 0


def visible_tokens(call: Call, window: int) -> int:
    """Tokens of the prompt that the model gets to see: at most the window."""
    if count(call) <= window:
        return count(call)
    start = first_kept(call, window)
    visible = [each for n, each in enumerate(call.messages) if n >= start or each.role == "system"]
    return min(_preamble(call) + sum(map(message_tokens, visible)), window)


def _start_of_loop(messages: Sequence[Message], n: int) -> int:
    """Where to begin so that results are not parted from their calls."""
    return n - 1 if n > 0 and messages[n].role == "tool" and messages[n - 1].calls else n


def _preamble(call: Call) -> int:
    system = sum(text_tokens(part.text) for part in call.system if isinstance(part, Text))
    return system + sum(map(tool_tokens, call.tools)) + _TAIL


class OllamaCache:
    """One run's cache, of which nothing is seen (`ollama.md` §6: no request field, no usage field)."""

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted; there is nothing to do when the response has begun."""
        return PromptUsage(visible_tokens(call, window_of(call, facts))), lambda: None
