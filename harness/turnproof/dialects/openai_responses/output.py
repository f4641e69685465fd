"""A scripted reply as the items of a response, made up once, so that batch and stream say the same.

Everything that the real service draws at random (ids, encrypted content) is drawn from the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import HarnessError
from ...messages import FinishReason, FunctionCall, Text, Thought
from ..base import Reply, ReplyPart
from ..finish_words import finish_word_of
from ..naming import spoken_name
from .finishes import WRITE, Ending, ending_of
from .models import LEGAL_NAME, PHASES
from .rules import NAME
from .store import seal
from .surfaces import ResponsesCall, Surface
from .writing import call_id, item_id

Json = dict[str, Any]

_OWN_DIALECTS = (NAME, "scenario")
"""Dialects whose provider data a scripted part may carry: our own, and that of scenarios, which serve every dialect."""

ENCRYPTED = "reasoning.encrypted_content"
"""What a request has among `include` to get reasoning in a form that can be sent back."""

_encode = msgspec.json.Encoder().encode


def ending(reply: Reply) -> Ending:
    """How the response ends, in the API's words. Raises HarnessError for a finish that it has no word for."""
    if reply.raw_finish:
        return ending_of(reply.raw_finish)
    return finish_word_of(WRITE, reply.finish, dialect=NAME, member="status")


def items(reply: Reply, call: ResponsesCall, model: str, features: frozenset[str], seed: str) -> list[Json]:
    """The items of a response, complete; one a scripted part."""
    output_items = [_item(part, n, reply, call, model, seed) for n, part in enumerate(reply.parts)]
    cut = ending(reply).status == "incomplete"
    for n, item in enumerate(output_items):
        last = n + 1 == len(output_items)
        if item["type"] == "message":
            item["status"] = "incomplete" if cut and last else "completed"
            if PHASES in features:
                followed = any(each["type"] == "function_call" for each in output_items[n:])
                item["phase"] = "commentary" if followed else "final_answer"
    return output_items


def _item(reply_part: ReplyPart, n: int, reply: Reply, call: ResponsesCall, model: str, seed: str) -> Json:
    part = reply_part.part
    data = part.provider_data.data if part.provider_data and part.provider_data.dialect in _OWN_DIALECTS else {}
    match part:
        case Text():
            refused = reply.finish is FinishReason.REFUSAL
            content = refusal(part.text) if refused else output_text(part.text)
            named = data.get("id") or item_id("msg", seed, n)
            return {"id": named, "type": "message", "role": "assistant", "content": [content]}
        case Thought():
            # What nobody may read travels inside, as in the real service.
            hidden = part.text + str(data.get("redacted", ""))
            sealed = data.get("encrypted") or seal(hidden, model, f"{seed}\0{n}")
            return {
                "id": data.get("id") or item_id("rs", seed, n),
                "type": "reasoning",
                "content": [],
                **({"encrypted_content": sealed} if _is_encrypted(call) else {}),
                "summary": [summary_text(part.text)] if part.text and _is_summed_up(call) else [],
            }
        case FunctionCall():
            return {
                "id": data.get("id") or item_id("fc", seed, n),
                "type": "function_call",
                "status": "incomplete" if reply_part.broken else "completed",
                "arguments": arguments(reply_part),
                "call_id": part.id or call_id(seed, n),
                "name": spoken_name(part.name, call.tools, LEGAL_NAME),
                **({"namespace": data["namespace"]} if "namespace" in data else {}),
            }
        case _ if (own := reply_part.own_block(NAME)) is not None:
            return {"id": item_id("item", seed, n), "type": "unknown"} | own
        case _:
            raise HarnessError(f"{NAME} cannot answer with a part of type {type(part).__name__}: {part!r:.80}")


def _is_encrypted(call: ResponsesCall) -> bool:
    """Whether the request asks for reasoning in a form that can be sent back; Copilot gives it to everybody."""
    return call.surface is Surface.COPILOT or ENCRYPTED in (call.settings.get("include") or ())


def _is_summed_up(call: ResponsesCall) -> bool:
    """Whether the request asks to be told what was thought: without that, it is only there in encrypted form."""
    if call.surface is Surface.LLAMACPP:
        return True
    config = call.settings.get("reasoning")
    return isinstance(config, Mapping) and bool(config.get("summary") or config.get("generate_summary"))


def output_text(text: str) -> Json:
    """A text of the model."""
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def refusal(text: str) -> Json:
    """What the model says where it declines."""
    return {"type": "refusal", "refusal": text}


def summary_text(text: str) -> Json:
    """A part of the summary of reasoning."""
    return {"type": "summary_text", "text": text}


def arguments(reply_part: ReplyPart) -> str:
    """The arguments of a scripted call as the model writes them; those of a broken call are cut off."""
    if reply_part.pieces:
        return "".join(reply_part.pieces)
    assert isinstance(reply_part.part, FunctionCall)
    whole = _encode(reply_part.part.args).decode()
    return whole[: max(1, len(whole) * 2 // 3)] if reply_part.broken else whole
