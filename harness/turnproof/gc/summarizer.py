"""Who writes a summary, and what the one is given who does.

A summarizer gets messages and returns a text; what it raises, and an empty text, make the collection fail without
harm. `ProviderSummarizer` asks a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from .._base.counts import counted
from ..budget import is_note
from ..cancel import CancelToken
from ..errors import Cancelled, ProviderError, UsageError
from ..messages import FileRef, FinishReason, FunctionCall, InlineData, Message, Part, Text, ToolResult
from ..provider import StatelessProvider

Summarizer: TypeAlias = Callable[[Sequence[Message], CancelToken], str]
"""The summary of a part of a conversation. Earlier summaries may stand in front of it, and have to be taken in."""

INSTRUCTION = (
    "Summarize this part of a conversation for the assistant who has to go on with it and will not see it again. Keep "
    "what the user wants, what was decided, names and figures that may be needed, and what is still to be done. Answer "
    "with the summary alone."
)

LONGEST_RESULT = 2_000
"""Characters of a tool result that a transcript shows: what came of it stands in the answer behind it."""

_COMPLETE = {FinishReason.STOP, FinishReason.MAX_TOKENS, FinishReason.UNKNOWN}
_encode = msgspec.json.Encoder().encode


class ProviderSummarizer:
    """Has a model write the summary, in a request that holds nothing but a transcript: no tools, no history.

    `provider` may be the session's own: `complete()` keeps nothing. One that owns its history is refused, since the
    request and its answer would become a part of it.
    """

    def __init__(self, provider: StatelessProvider, instruction: str = INSTRUCTION) -> None:
        if not callable(getattr(provider, "complete", None)):
            raise UsageError(
                f"{type(provider).__name__} has no complete(): a provider that owns its history would take the "
                "summary's request into it. Open one on the stateless path"
            )
        self._provider = provider
        self._instruction = instruction

    def __call__(self, messages: Sequence[Message], token: CancelToken) -> str:
        """The model's summary. Raises Cancelled, or a ProviderError also for an answer that was refused or cut off."""
        request = [Message.user(transcript(messages))]
        response = self._provider.complete(request, self._instruction, cancel_token=token)
        if response.finish_reason is FinishReason.CANCELLED:
            raise Cancelled("the summary was cancelled")
        if response.finish_reason not in _COMPLETE:
            raise ProviderError(f"the model wrote no summary: it ended with {response.finish_reason.value!r}")
        return response.text


def transcript(messages: Sequence[Message]) -> str:
    """A conversation as a text that anybody can read. Thinking is left out, and so are the bytes of files."""
    return "\n\n".join(f"{_speaker(message)}: {lines}" for message in messages if (lines := "\n".join(_lines(message))))


def _speaker(message: Message) -> str:
    if is_note(message, "summary"):
        return "Summary of what came before"
    return {"user": "User", "model": "Assistant", "tool": "Tools", "system": "Instruction"}[message.role]


def _lines(message: Message) -> Iterator[str]:
    for part in message.parts:
        if line := _part_as_line(part):
            yield line


def _part_as_line(part: Part) -> str:
    match part:
        case Text(text=text):
            return text.strip()
        case FunctionCall(name=name, args=args):
            return f"[calls {name} {_encode(args).decode()}]"
        case ToolResult(name=name, result=result, is_error=failed):
            text = result if isinstance(result, str) else _encode(result).decode()
            more = (
                f" (and {counted(len(text) - LONGEST_RESULT, 'more character')})" if len(text) > LONGEST_RESULT else ""
            )
            return f"[{name} {'failed' if failed else 'answered'}: {text[:LONGEST_RESULT]}{more}]"
        case InlineData(mime_type=kind) | FileRef(mime_type=kind):
            return f"[a file: {kind}]"
        case _:
            return ""
