"""What an inventory says: each method of a class, and what it reads and writes of history."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ... import __version__
from ..._base.canonical import canonical
from ...provider import LEGACY_METHODS

SCHEMA = "turnproof.inventory/1"

TouchKind: TypeAlias = Literal["reads", "writes", "provider-call", "provider-private"]


class Touch(msgspec.Struct, frozen=True):
    """One place in a method's source that has to do with history.

    reads, writes:    `what` is the attribute that holds history: `_history`, `Store.messages` of a helper object,
                      `my_pkg.chats.HISTORIES` of a module.
    provider-call:    `what` is the method of a provider that is called, as `get_history()`. Every call is told, also
                      one of `complete()` or `count_tokens()`.
    provider-private: `what` is the private attribute of a provider that is used, as `_history`.

    Where a method gets there by calling another one, `what` ends in `via other()` and the line is that of the call.
    `source` is the line, stripped.
    """

    kind: TouchKind
    what: str
    line: int
    source: str

    @property
    def reaches_into_a_provider(self) -> bool:
        """Whether it is something that no session does that owns its history: it calls one of the methods by which
        a provider owns one, or uses a private attribute of a provider.
        """
        method = self.what.partition("(")[0]
        return self.kind == "provider-private" or (self.kind == "provider-call" and method in LEGACY_METHODS)


class MethodUse(msgspec.Struct, frozen=True):
    """A method, or a function that methods call, and its touches in the order of their lines.

    `owner` is the class whose source it stands in, or the module of a function; `line` is that of its `def`. `legacy`:
    it is one of the provider's methods that own a history (LEGACY_METHODS).
    """

    owner: str
    name: str
    file: str
    line: int
    legacy: bool
    touches: tuple[Touch, ...]


class Inventory(msgspec.Struct, frozen=True):
    """What a class has to do with history.

    `methods` are those that touch it, and the legacy ones; `legacy` are the legacy ones alone. `problems` are spots
    that cannot be decided by reading the source, each with file and line: history may be touched there.
    """

    name: str
    file: str
    methods: tuple[MethodUse, ...]
    legacy: tuple[MethodUse, ...]
    problems: tuple[str, ...]

    @property
    def is_session(self) -> bool:
        """Whether it calls a provider instead of being one: what it holds itself is then where history belongs."""
        return not self.legacy and any(touch.kind == "provider-call" for use in self.methods for touch in use.touches)

    @property
    def left(self) -> tuple[MethodUse, ...]:
        """What a migration to session-owned history still has to remove.

        Of a provider: its legacy methods, and every other method that touches a history. Of a session: the methods
        that call a legacy method of the provider or use a private attribute of it, with those touches alone.
        """
        if not self.is_session:
            return self.methods
        uses = ((use, tuple(touch for touch in use.touches if touch.reaches_into_a_provider)) for use in self.methods)
        return tuple(msgspec.structs.replace(use, touches=touches) for use, touches in uses if touches)


class InventoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The inventories of one command, as `--json` prints them."""

    schema: str = SCHEMA
    turnproof: str = __version__
    inventories: tuple[Inventory, ...]


def inventory_json(inventories: tuple[Inventory, ...]) -> bytes:
    """The report as indented JSON with sorted keys; equal inventories are equal bytes."""
    return msgspec.json.format(canonical(InventoryReport(inventories=inventories)), indent=2) + b"\n"
