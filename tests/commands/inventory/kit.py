"""Short ways to say what is in an inventory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from turnproof.commands.inventory import Inventory, MethodUse


@dataclass(frozen=True)
class InventoryFacts:
    """An inventory, and short ways to say what is in it."""

    inventory: Inventory

    def of(self, method: str) -> MethodUse:
        """One method."""
        return next(use for use in self.inventory.methods if use.name == method)

    def does(self, method: str) -> set[str]:
        """What a method does, as `writes _history`."""
        if method not in self.names:
            return set()
        return {f"{touch.kind} {touch.what}" for touch in self.of(method).touches}

    def lines(self, method: str) -> list[str]:
        """The lines of source that a method touches history in."""
        return list(dict.fromkeys(touch.source for touch in self.of(method).touches))

    @property
    def names(self) -> list[str]:
        """The methods that are listed."""
        return [use.name for use in self.inventory.methods]

    @property
    def places(self) -> set[str]:
        """The places that hold history."""
        touches = (touch for use in self.inventory.methods for touch in use.touches)
        return {touch.what for touch in touches if touch.kind in ("reads", "writes") and " via " not in touch.what}


Take = Callable[..., InventoryFacts]
