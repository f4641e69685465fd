"""What the service remembers: interactions by id with the chain that led to each, and what it has signed.

An interaction is stored unless the request has `store: false`; a later request cannot name one that was not stored. It
is kept for one day by `World.clock`, the shortest time of the service (the free tier's), since a client cannot find out
its tier. It belongs to who asked for it: to another owner it is unknown. A deleted interaction cannot be named any
more; an interaction that continued it keeps the whole conversation.

Signatures are recognised by their bytes (`World.issued`). Each call is recognised by its id together with the signature
in front of it, whether the interaction was stored or not.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ..base import WireEvent, World
from ..owners import claim, own_resource
from .addresses import Step
from .steps import kind_of, signature_of

KEPT_SECONDS = 24 * 60 * 60
"""How long an interaction is kept (ai.google.dev, Interactions API, data storage and retention: a day on the free tier,
55 days on the paid one)."""

_SIGNED_BYTES = 192


@dataclass(frozen=True, slots=True)
class IssuedCall:
    """A call that an answer held: the signature of the thought in front of it, and the model."""

    signature: str
    model: str


@dataclass(slots=True)
class StoredInteraction:
    """An interaction that can be asked for: `current` is what it is now, `input_steps` the steps of its own request.

    `previous` is the one that it went on from. `final` is what one in the background becomes, `events` are those of its
    stream, `since` is when it was made.
    """

    current: Step
    input_steps: tuple[Step, ...]
    since: float
    previous: StoredInteraction | None = None
    final: Step | None = None
    events: tuple[WireEvent, ...] = ()
    was_asked_for: bool = False

    @property
    def context(self) -> tuple[Step, ...]:
        """The whole conversation up to the last step of the interaction."""
        newest_first: list[StoredInteraction] = []
        each: StoredInteraction | None = self
        while each is not None:
            newest_first.append(each)
            each = each.previous
        return tuple(step for one in reversed(newest_first) for step in (*one.input_steps, *steps_in(one.current)))


def kept_interaction(world: World, name: object) -> StoredInteraction | None:
    """The interaction that is kept under this id."""
    found = own_resource(world, name)
    return found if isinstance(found, StoredInteraction) and _is_kept(found, world) else None


def kept_ids(world: World) -> tuple[str, ...]:
    """The ids of all interactions that their owners can ask for, in the order in which they were made."""
    return tuple(name for name, resource in world.resources.items() if _is_kept(resource, world))


def _is_kept(resource: object, world: World) -> bool:
    return isinstance(resource, StoredInteraction) and world.clock() - resource.since < KEPT_SECONDS


def has_expired(world: World, name: object) -> bool:
    """Whether a request could go on from this interaction until time alone ended that."""
    found = own_resource(world, name)
    return isinstance(found, StoredInteraction) and kept_interaction(world, name) is None


def forget(world: World, name: str) -> None:
    """Keep nothing under this id any more."""
    world.resources.pop(name, None)


def issued_call(world: World, call_id: object) -> IssuedCall | None:
    """What is known of a call that an answer held; None for one that came from elsewhere, or without a thought."""
    found = world.resources.get(_call_key(call_id))
    return found if isinstance(found, IssuedCall) else None


def remember(
    interaction: Step,
    input_steps: Sequence[Step],
    world: World,
    *,
    stored: bool,
    model: str,
    previous: StoredInteraction | None = None,
) -> None:
    """Let the world know a whole interaction about the steps that were `input_steps`; `model` is who issued it."""
    remember_signed(steps_in(interaction), model, world)
    name = interaction.get("id")
    # A retry gets the answer that its first request got: nothing of it is kept twice.
    if stored and isinstance(name, str) and name and name not in world.resources:
        world.resources[name] = StoredInteraction(interaction, tuple(input_steps), world.clock(), previous)
        claim(world, name)


def remember_signed(steps: Iterable[Step], model: str, world: World) -> None:
    """Remember signatures, and which of them each call came behind."""
    latest: str | None = None
    for step in steps:
        if (signature := signature_of(step)) is not None:
            latest = signature
            world.issued[signature] = (digest(step), model)
        elif kind_of(step) == "function_call" and latest is not None:
            world.resources[_call_key(step.get("id"))] = IssuedCall(latest, model)


def steps_in(interaction: Step) -> list[dict[str, Any]]:
    """The steps that an interaction gives."""
    found = interaction.get("steps")
    return [step for step in found if isinstance(step, dict)] if isinstance(found, list) else []


def sign(text: str, model: str, seed: str) -> str:
    """A signature in the form of the real ones: standard base64. Equal arguments give the same."""
    random_bytes = b"".join(
        blake2b(f"{seed}\0{model}\0{n}\0{text}".encode(), digest_size=64).digest() for n in range(_SIGNED_BYTES // 64)
    )
    # A head like that of the recorded ones; 0xFB 0xFF is "+/" in one alphabet and "-_" in the other.
    return b64encode(b"\n\x8b\x02\x01\xfb\xff\xfe" + random_bytes[: _SIGNED_BYTES - 9]).decode()


def digest(step: Step) -> str:
    """The digest under which a thought is known."""
    return blake2b("".join(_summary(step)).encode(), digest_size=16).hexdigest()


def _summary(step: Step) -> Iterator[str]:
    summary = step.get("summary")
    for each in summary if isinstance(summary, list) else ():
        if isinstance(each, dict):
            yield str(each.get("text", ""))


def _call_key(call_id: object) -> str:
    return f"call\0{call_id}"
