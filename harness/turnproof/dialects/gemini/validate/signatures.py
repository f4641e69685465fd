"""Thought signatures that come back: on the first call of each step of the running tool loop, as they were issued.

Older turns, texts, and models that do not demand signatures are not judged. A signature is its bytes: which alphabet
wrote them does not matter. Two values are accepted in place of one, for histories that have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...catalogue import same_model
from .. import rules
from ..conversation import Placed, current
from ..models import DEMANDS_SIGNATURES, MODELS
from ..parts import part_of, standard_base64
from ..signing import digest, stands_in
from ..surfaces import Surface
from .context import Context, refuse

_LEARN_MORE = "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"


def check(context: Context) -> Iterator[Refusal]:
    """Rules about the calls of the running tool loop."""
    if not context.has(DEMANDS_SIGNATURES):
        return
    for turn in current(context.turns):
        if turn.role == "model":
            for n, placed in enumerate(turn.parts_with("functionCall")):
                if placed.part.get("thoughtSignature"):
                    yield from _signed(context, placed)
                elif n == 0:
                    yield _missing(context, placed)


def _missing(context: Context, placed: Placed) -> Refusal:
    name, block = placed.part["functionCall"].get("name", ""), placed.content + 1
    match context.call.surface:
        case Surface.AI_STUDIO:
            message = f"Function call `{name}` in the `{block}.` content block is missing a `thought_signature`."
        case Surface.VERTEX:
            message = (
                f"Unable to submit request because function call `default_api:{name}` in the {block}. content block is "
                f"missing a `thought_signature`. Learn more: {_LEARN_MORE}"
            )
        case Surface.CLOUD_CODE:
            message = (
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{name}` , position {block}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
    return refuse(rules.MISSING_SIGNATURE, message, placed.path)


def _signed(context: Context, placed: Placed) -> Iterator[Refusal]:
    signature = placed.part["thoughtSignature"]
    if stands_in(signature):
        return
    issued = context.world.issued.get(standard_base64(signature))
    if issued is None:
        submitted = "" if context.call.surface is Surface.AI_STUDIO else "Unable to submit request because "
        yield refuse(rules.INVALID_SIGNATURE, f"{submitted}Thought signature is not valid", placed.path)
        return
    signed, model = issued
    if not same_model(MODELS, model, context.call.model or ""):
        message = f"Thought signature was issued by {model}"
        yield refuse(rules.FOREIGN_MODEL_SIGNATURE, message, placed.path)
    elif signed != digest(part_of(placed.part, model)):
        yield refuse(rules.MOVED_SIGNATURE, "Thought signature was issued for another part", placed.path)
