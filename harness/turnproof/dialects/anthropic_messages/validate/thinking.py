"""Thinking that comes back: signed, unchanged, and present where a running tool loop demands it."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...catalogue import same_model
from .. import rules
from ..conversation import MergedTurn, Placed, kind_of
from ..models import MODELS
from ..signing import digest
from .context import Context, refuse

_KINDS = ("thinking", "redacted_thinking")
_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)


def check(context: Context) -> Iterator[Refusal]:
    """Rules about thinking blocks in assistant turns."""
    assistants = [turn for turn in context.turns if turn.role == "assistant"]
    for turn in assistants:
        for placed in turn.blocks_of_type(*_KINDS):
            if placed.kind == "thinking":
                yield from _signed(context, placed, latest=turn is assistants[-1])
            else:
                yield from _redacted(context, placed)
    if context.thinking == "enabled":
        yield from _demanded(context)


def _signed(context: Context, placed: Placed, *, latest: bool) -> Iterator[Refusal]:
    path = placed.path
    signature = placed.block.get("signature")
    if not signature:
        yield _unsigned(context, placed)
        return
    issued = context.world.issued.get(signature)
    if issued is None:
        yield refuse(rules.INVALID_SIGNATURE, f"{path}: Invalid `signature` in `thinking` block", path)
        return
    signed, model = issued
    if signed != digest(placed.block.get("thinking", "")):
        if latest:
            yield refuse(rules.MODIFIED_THINKING, f"{path}: {_MODIFIED}", path)
        else:
            yield refuse(rules.INVALID_SIGNATURE, f"{path}: Invalid `signature` in `thinking` block", path)
    elif not same_model(MODELS, model, context.body["model"]):
        message = f"{path}: `signature` was issued by {model}"
        yield refuse(rules.FOREIGN_MODEL_SIGNATURE, message, path)


def _unsigned(context: Context, placed: Placed) -> Refusal:
    where = f"{placed.path}.thinking"
    if context.thinking == "disabled":
        return refuse(rules.UNSIGNED_WHILE_OFF, f"{where}: each thinking block must contain thinking", where)
    if "signature" not in placed.block:
        return refuse(rules.MISSING_FIELD, f"{where}.signature: Field required", f"{where}.signature")
    return refuse(rules.UNSIGNED_THINKING, f"{where}: each thinking block must contain thinking", where)


def _redacted(context: Context, placed: Placed) -> Iterator[Refusal]:
    if placed.block.get("data") not in context.world.issued:
        message = f"{placed.path}: Invalid `data` in `redacted_thinking` block"
        yield refuse(rules.INVALID_REDACTED, message, placed.path)


def _demanded(context: Context) -> Iterator[Refusal]:
    """With budget thinking, the assistant turn that opened the running tool loop must begin with thinking."""
    opening = _opening_of_loop(context)
    if opening is None or not opening.blocks:
        return
    first = opening.place(0)
    if first.kind not in _KINDS:
        message = (
            f"{first.path}.type: Expected `thinking` or `redacted_thinking`, but found `{first.kind}`. When `thinking` "
            "is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
            "`tool_use` and `tool_result` blocks)."
        )
        yield refuse(rules.THINKING_REQUIRED, message, f"{first.path}.type")


def _opening_of_loop(context: Context) -> MergedTurn | None:
    turns = [turn for turn in context.turns if turn.role != "system"]
    if not turns or not _only_results(turns[-1]):
        return None
    opening = None
    for turn in reversed(turns):
        if turn.role == "assistant":
            opening = turn
        elif not _only_results(turn):
            break
    return opening


def _only_results(turn: MergedTurn) -> bool:
    """A user turn that continues a tool loop: results, and nothing the user said."""
    return turn.role == "user" and bool(turn.blocks) and all(kind_of(each) == "tool_result" for each in turn.blocks)
