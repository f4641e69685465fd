"""Which providers remember a conversation themselves, by patterns over the names of their models."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from ...errors import UsageError

Memory: TypeAlias = Literal["stateful", "stateless"]
"""`stateful`: it keeps the conversation under a session id. `stateless`: it knows what the request says."""

KNOWN: Mapping[str, Memory] = {
    "claude-acp/*": "stateful",
    "claude-cli/*": "stateful",
    "codex-acp/*": "stateful",
    "gemini-acp/*": "stateful",
}
"""Programs that hold a conversation under an id. A `gemini -p` (`gemini-cli/*`) begins anew each time it is run, and is
stateless like whoever does not stand here.
"""


class ProviderRegistry:
    """From a pattern (`claude-cli/*`) to what such a provider remembers. One that is not known is stateless.

    Of several patterns that fit, the longest counts, and of equally long ones the latest. To send a history to somebody
    who has it is waste; not to send it to somebody who has it not is a conversation lost, hence the default.
    """

    def __init__(self, patterns: Mapping[str, Memory] = KNOWN) -> None:
        self._patterns: dict[str, Memory] = {}
        for pattern, memory in patterns.items():
            self.register(pattern, memory)

    def register(self, pattern: str, memory: Memory) -> None:
        """Say what providers remember whose models have names like this (`*`, `?`, `[...]`)."""
        if memory not in ("stateful", "stateless"):
            raise UsageError(f"{pattern!r}: a provider is 'stateful' or 'stateless', got {memory!r}")
        self._patterns.pop(pattern, None)
        self._patterns[pattern] = memory

    def memory_of(self, model: str) -> Memory:
        """What the provider of this model remembers."""
        fitting = [pattern for pattern in reversed(self._patterns) if fnmatchcase(model, pattern)]
        return self._patterns[max(fitting, key=len)] if fitting else "stateless"


def provider_of(model: str) -> str:
    """The provider's part of a model's name: what stands before the first slash, or all of it."""
    return model.partition("/")[0]
