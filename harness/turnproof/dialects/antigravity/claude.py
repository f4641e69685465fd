"""A conversation with a Claude model as the gateway hands it on, and Anthropic's judgement of it.

The contents are Gemini's, the rules Anthropic's: ids pair calls and responses, each call is answered in the next
content, first thing, and what was thought comes back as it was signed, or not at all. How exactly the gateway converts
is not known; here each turn is one message, which is what the numbers in pasted errors agree with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...messages import FunctionCall, Part, Text, Thought, ToolResult, thaw
from ..anthropic_messages.signing import digest
from ..anthropic_messages.validate import pairing, thinking
from ..anthropic_messages.validate.context import Context as AnthropicContext
from ..base import Call, HttpRequest, Refusal, World
from ..gemini.conversation import Content, turns
from ..gemini.counting import count
from ..gemini.ids import Pairing
from ..gemini.parts import part_of, signature_of
from ..gemini.validate.context import Context
from . import rules
from .errors import nested

_BUDGET = (
    "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"
)

Block = dict[str, Any]


def check(context: Context) -> Iterator[Refusal]:
    """What Anthropic refuses in what the gateway hands on."""
    yield from _budget(context)
    yield from _conversation(context)
    yield from _size(context)


def join_thoughts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts with each thought in one piece: a stream brings it in several, its signature on the last of them."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Thought) and isinstance(last, Thought) and signature_of(last) is None:
            found[-1] = Thought(last.text + part.text, provider_data=part.provider_data)
        else:
            found.append(part)
    return tuple(found)


def remember_signatures(parts: Iterable[Part], model: str, world: World) -> None:
    """Remember the signatures of the thoughts of an answer that was issued elsewhere."""
    for part in join_thoughts(parts):
        signature = signature_of(part)
        if isinstance(part, Thought) and signature is not None and part.provider_data is not None:
            world.issued[signature] = (digest(part.text), part.provider_data.model or model)


def _budget(context: Context) -> Iterator[Refusal]:
    config = context.content.get("generationConfig", {})
    budget, limit = config.get("thinkingConfig", {}).get("thinkingBudget"), config.get("maxOutputTokens")
    if budget is not None and limit is not None and float(budget) >= float(limit):
        yield nested(rules.CLAUDE_BUDGET, _BUDGET, "$.generationConfig.maxOutputTokens")


def _conversation(context: Context) -> Iterator[Refusal]:
    messages = _messages(context.contents, context.call.model or "")
    # Leaving all thinking out is accepted, as where Anthropic itself is asked to think as it sees fit.
    body: dict[str, Any] = {
        "model": context.call.model,
        "messages": messages,
        "tools": [{}],
        "thinking": {"type": "adaptive"},
    }
    request = HttpRequest("POST", "/v1/messages", {}, {}, b"")
    handed_on = AnthropicContext.from_request(request, Call("generate", context.call.model, body=body), context.world)
    for judge in (pairing.check, thinking.check):
        for refusal in judge(handed_on):
            yield nested(rules.gateway_rule(refusal.rule), refusal.message, refusal.path, refusal.kind)


def _size(context: Context) -> Iterator[Refusal]:
    facts = context.facts
    if facts is None or len(context.request.body) < facts.context_tokens:
        return  # Media aside, a token is at least a byte.
    tokens = count(context.call)
    if tokens > facts.context_tokens:
        message = f"prompt is too long: {tokens} tokens > {facts.context_tokens} maximum"
        yield nested(rules.CLAUDE_TOO_LONG, message, "$.contents")


def _messages(contents: Sequence[Content], model: str) -> list[dict[str, Any]]:
    found = []
    pairs = Pairing()
    for turn in turns(contents):
        parts = [part_of(placed.part, model) for placed in turn.parts]
        if turn.role == "model":
            found.append(
                {"role": "assistant", "content": [_block(part) for part in join_thoughts(pairs.of_model(parts))]}
            )
        else:
            found.append({"role": "user", "content": [_block(part) for part in pairs.of_user(parts)]})
    return found


def _block(part: Part) -> Block:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thought(text=text):
            signature = signature_of(part)
            signed = {} if signature is None else {"signature": signature}
            return {"type": "thinking", "thinking": text, **signed}
        case FunctionCall(id=call_id, name=name, args=args):
            return {"type": "tool_use", "id": call_id, "name": name, "input": thaw(args)}
        case ToolResult(call_id=call_id, result=result):
            return {"type": "tool_result", "tool_use_id": call_id, "content": str(result)}
        case _:
            # Images and the like: no rule that is known here asks what they are.
            return {"type": "other"}
