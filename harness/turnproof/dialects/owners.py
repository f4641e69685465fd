"""Whose it is what a service keeps, for the APIs that store answers.

An owner is known by the key of its requests: each key that the emulator takes is an organisation of its own. (Two keys
of one project share a store at the real services; a key of ours does not tell its project.) What belongs to another
owner is for a request what there is not. What nobody created belongs to whoever asks for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .base import Call, HttpRequest, PromptUsage, Refusal, Rendered, Reply, World
from .base_dialect import ModuleDialect
from .stored_calls import StoredCall


def as_owner(world: World, key: str) -> World:
    """The world as the owner of this key sees it. A key that the world does not take changes nothing."""
    if not key or not (world.any_key or key in world.keys):
        return world
    return replace(world, owner=world.owners.setdefault(key, len(world.owners)))


def claim(world: World, name: str) -> None:
    """Let what stands under this name belong to the owner who sees this world."""
    world.owned[name] = world.owner


def is_own(world: World, name: str) -> bool:
    """Whether what stands under this name belongs to the owner who sees this world, or to nobody."""
    return world.owned.get(name, world.owner) == world.owner


def own_resource(world: World, name: object) -> Any:
    """What is kept under this name, where it is the owner's; else None."""
    return world.resources.get(name) if isinstance(name, str) and is_own(world, name) else None


class StoringDialect(ModuleDialect):
    """A dialect whose service keeps what it was asked for, for its owner alone."""

    observed: Callable[[Call, int, Mapping[str, str], bytes, World], None]
    """What an answer tells the world (`Dialect.observe`)."""

    @abstractmethod
    def key_of(self, request: HttpRequest) -> str:
        """The key of a request; empty for one whose owner is not known."""

    def read_request(self, request: HttpRequest, world: World) -> Call | Refusal:
        """The request as the API reads it (`Dialect.parse`), in the world of its owner."""
        return super().parse(request, world)

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        own_world = as_owner(world, self.key_of(request))
        found = self.read_request(request, own_world)
        return replace(found, owner=own_world.owner) if isinstance(found, StoredCall) else found

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return super().validate(request, call, _seen_by(world, call))

    def render(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return super().render(call, reply, usage, _seen_by(world, call), _own_seed(call, seed))

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        return super().render_extra(call, usage, _seen_by(world, call), _own_seed(call, seed))

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        type(self).observed(call, status, headers, body, _seen_by(world, call))


def _owner(call: Call) -> int:
    return call.owner if isinstance(call, StoredCall) else 0


def _seen_by(world: World, call: Call) -> World:
    return replace(world, owner=_owner(call))


def _own_seed(call: Call, seed: str) -> str:
    """The seed of what a call creates: the same request of two owners creates two things."""
    return f"{seed}/owner-{owner}" if (owner := _owner(call)) else seed
