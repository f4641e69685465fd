"""A call to a service that can store its answers, and go on from them."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Call


@dataclass(frozen=True, slots=True)
class StoredCall(Call):
    """A call to such a service. Of what it goes on from, the first `carried` pieces of the conversation were not in the
    request: the service holds them. `owner` is the number of who asks (`owners.py`)."""

    carried: int = 0
    owner: int = 0

    @property
    def stored(self) -> bool:
        """Whether the service stores the answer, which is the default (`store`)."""
        return (self.body or {}).get("store") is not False

    @property
    def background(self) -> bool:
        """Whether the answer is made while nobody waits for it."""
        return (self.body or {}).get("background") is True
