"""What may happen in a random scenario, and how often.

Strategies that depend on nothing but their arguments are made once: hypothesis validates each strategy object anew,
which would cost more than drawing from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st

from ...provider import Capabilities
from ...subject import OPERATIONS

T = TypeVar("T")

Mode = Literal["stream", "batch"]


@dataclass(frozen=True, slots=True)
class Means:
    """What the subject claims, and what can be done with its session (everything, unless said otherwise)."""

    claims: Capabilities
    operations: frozenset[str] = frozenset(OPERATIONS)

    def can(self, *operations: str) -> bool:
        """Whether the session has all of these operations."""
        return self.operations.issuperset(operations)


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds in the turn that is being drawn: its means, how it is run, and the tools that may be called.

    `turn` is its number in the conversation, from 0.
    """

    means: Means
    modes: tuple[Mode, ...]
    thinking: bool
    caching: bool
    tools: tuple[str, ...]
    turn: int = 0

    @property
    def streamed(self) -> bool:
        """Whether it is only ever streamed, so that something may happen at an event of the stream."""
        return self.modes == ("stream",)


def weighted(choices: Mapping[T, int]) -> st.SearchStrategy[T]:
    """One of some values, each as often as its weight says; the first one is the simplest."""
    return _weighted(tuple(choices.items()))


@cache
def _weighted(choices: tuple[tuple[Any, int], ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from([choice for choice, weight in choices for _ in range(weight)])


def often(times: int) -> st.SearchStrategy[bool]:
    """True but for once in so many times; False is the simpler one."""
    return weighted({False: 1, True: times - 1})


def seldom(times: int) -> st.SearchStrategy[bool]:
    """True once in so many times."""
    return weighted({False: times - 1, True: 1})
