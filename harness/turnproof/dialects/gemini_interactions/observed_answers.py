"""What a recorded or real answer tells the world: what it signed, what is kept and what is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Call, World
from ..lenient_reading import json_of
from ..sse import is_event_stream
from .addresses import InteractionsCall
from .read import read_events
from .store import forget, kept_interaction, remember, remember_signed, steps_in


def observe(call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
    """Remember what an answer to `call` issued. An answer that names its model is believed."""
    if status != 200 or call.operation not in ("generate", "stored"):
        return
    own_call = InteractionsCall.from_call(call)
    interaction = _interaction(headers, body)
    if own_call.operation == "stored":
        _observe_store(own_call, interaction, world)
    elif interaction:
        remember(
            interaction,
            own_call.steps[own_call.carried :],
            world,
            stored=own_call.stored,
            model=_issuer(interaction, call),
            previous=kept_interaction(world, own_call.resource),
        )


def _interaction(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """The interaction as a batch answer gives it, or as the events of a stream do, steps and all."""
    if is_event_stream(headers.get("content-type", ""), body):
        stream = read_events(body)
        return stream.interaction | {"steps": stream.steps} if stream.ended else {}
    found = json_of(body)
    return found if isinstance(found, dict) else {}


def _issuer(interaction: Mapping[str, Any], call: Call) -> str:
    model = interaction.get("model")
    return model if isinstance(model, str) and model else call.model or ""


def _observe_store(call: InteractionsCall, interaction: dict[str, Any], world: World) -> None:
    """What an operation on the store tells: an interaction as it is now, or that it is gone."""
    if call.action == "delete":
        forget(world, str(call.resource))
    elif interaction.get("object") == "interaction" and (stored := kept_interaction(world, call.resource)) is not None:
        own = [step for step in steps_in(interaction) if step not in stored.input_steps]
        stored.current = interaction | {"steps": own}
        remember_signed(own, _issuer(interaction, call), world)
