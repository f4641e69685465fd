"""The class that every dialect in this package extends.

A dialect names its data and its functions as attributes of its class (`parse = staticmethod(parse)`), so that no
method only forwards. mypy compares each function with the signature in `Dialect`, and rejects a dialect that lacks one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..messages import ToolSchema
from .base import Call, Dialect, Refusal, Reply, World
from .naming import speak


class BaseDialect(Dialect):
    """A `Dialect` with what most wire APIs have in common. A class attribute or a method replaces any of it."""

    noise: Sequence[bytes] = ()

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that `call` gave to the declared `tools`."""
        return speak(reply, tools, call.tools, self.legal_name)

    def observe(self, call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
        """The answers of such a service contain nothing that it has to recognize later."""

    def is_positional(self, call_id: str) -> bool:
        """Every id stood on the wire."""
        return False


def enforced_first(refusals: Sequence[Refusal]) -> list[Refusal]:
    """The refusals in their order, those that are only logged after the others."""
    return sorted(refusals, key=lambda refusal: not refusal.enforced)
