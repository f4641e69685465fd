"""`SharedState`: what the agents of a team know in common."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import msgspec

from ..._base.suggestions import did_you_mean
from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import JSON, freeze
from ...subject import Tool
from .arguments import Arguments, typed_tool

MAX_BYTES = 1 << 20
"""How much JSON a team shares, by default."""


class SharedValue(msgspec.Struct, frozen=True):
    """A value as it was set last. `version` counts how often its key was set: the first is 1."""

    value: JSON
    version: int


class SharedState:
    """JSON values by key, set and read from any thread. Values are frozen: nobody changes another's by accident.

    All of them together are at most `max_bytes` of JSON.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, SharedValue] = {}
        self._sizes: dict[str, int] = {}
        self._max_bytes = max_bytes

    def get(self, key: str) -> SharedValue:
        """What the key was set to. Raises UsageError if it never was."""
        with self._lock:
            if (found := self._values.get(key)) is None:
                raise UsageError(f"nothing is shared under {key!r}{did_you_mean(key, self._values)}")
            return found

    def set(self, key: str, value: object, *, version: int | None = None) -> int:
        """Share a JSON value, and return its version. With a `version`, only over that one (0: over none).

        That is how several agents change one value without losing each other's changes: read, change, set over what
        was read, and start again if that is refused. Raises UsageError, and changes nothing, over another version, or
        for what is too large; PayloadError for what is not JSON.
        """
        frozen = freeze(value)
        size = len(key.encode()) + len(msgspec.json.encode(frozen))
        with self._lock:
            present = self._values.get(key)
            now = present.version if present else 0
            if version is not None and version != now:
                raise UsageError(f"{key!r} is at version {now} by now, not {version}: read it again")
            total = sum(self._sizes.values()) - self._sizes.get(key, 0) + size
            if total > self._max_bytes:
                raise UsageError(
                    f"{key!r} takes {size} bytes, so that {total} would be shared; the limit is {self._max_bytes}"
                )
            self._values[key] = SharedValue(frozen, now + 1)
            self._sizes[key] = size
            return now + 1

    def versions(self) -> dict[str, int]:
        """The keys that were set, in the order of their first time, with their versions."""
        with self._lock:
            return {key: value.version for key, value in self._values.items()}


class _Get(Arguments, frozen=True):
    key: Annotated[str, msgspec.Meta(description="The key it was set under.")]


class _Set(Arguments, frozen=True):
    key: Annotated[str, msgspec.Meta(description="The key to set it under.", min_length=1)]
    value: Annotated[Any, msgspec.Meta(description="Any JSON value.")]
    version: (
        Annotated[int, msgspec.Meta(description="Set it only if this is still its version (0: not set yet).")] | None
    ) = None


class _List(Arguments, frozen=True):
    pass


def shared_state_tools(state: SharedState) -> tuple[Tool, ...]:
    """What a model reads and sets shared values with."""

    def get(arguments: _Get, token: CancelToken) -> JSON:
        found = state.get(arguments.key)
        return {"value": found.value, "version": found.version}

    def set_value(arguments: _Set, token: CancelToken) -> JSON:
        return {"version": state.set(arguments.key, arguments.value, version=arguments.version)}

    def list_versions(arguments: _List, token: CancelToken) -> JSON:
        return state.versions()

    return (
        typed_tool("get_shared_state", "Read a value that the agents share, with its version.", _Get, get),
        typed_tool("set_shared_state", "Share a value with the other agents.", _Set, set_value),
        typed_tool("list_shared_state", "The keys of all shared values, with their versions.", _List, list_versions),
    )
