"""Whether the prompt fits, and how each surface says that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..counting import count
from ..errors import ChatRefusal
from ..surfaces import Surface
from .context import Context


def check(context: Context) -> Iterator[Refusal]:
    """The window. Ollama lets a prompt through and drops what does not fit: that is only logged."""
    window = context.window
    # Media aside, a token is at least a byte: most requests need not be counted at all.
    media = (b"image_url", b"input_audio", b'"file"')
    if window is None or (
        len(context.request.body) < window and not any(kind in context.request.body for kind in media)
    ):
        return
    tokens = count(context.call)
    if tokens > window:
        yield _refusal(context, tokens, window)


def _refusal(context: Context, tokens: int, window: int) -> Refusal:
    surface, model = context.surface, context.call.model
    match surface:
        case Surface.GITHUB:
            name = (model or "").rpartition("/")[2]
            message = f"Request body too large for {name} model. Max size: {window} tokens."
            return ChatRefusal(rules.GITHUB_SIZE, 413, "tokens_limit_reached", message, surface=surface)
        case Surface.COPILOT:
            message = f"prompt token count of {tokens} exceeds the limit of {window}"
            kind = "model_max_prompt_tokens_exceeded"
            return ChatRefusal(rules.COPILOT_SIZE, 400, kind, message, surface=surface)
        case Surface.ZAI:
            return ChatRefusal(rules.ZAI_SIZE, 400, "1261", "Prompt exceeds max length", surface=surface)
        case Surface.OLLAMA:
            message = f"the prompt of {tokens} tokens is cut to the {window} of the window"
            return ChatRefusal(rules.OLLAMA_TRUNCATES, 200, "truncated", message, surface=surface)
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. "
        "Please reduce the length of the messages."
    )
    return context.refuse(rules.CONTEXT_LENGTH, "context_length_exceeded", message, "messages")
