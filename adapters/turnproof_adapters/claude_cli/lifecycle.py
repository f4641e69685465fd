"""What both paths are apart from a conversation: settings, and questions that need no process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from turnproof.errors import ProviderError, TransportError, UsageError

from .._calling import Caller
from .._errors import scrubbed
from .._http import DEFAULT_TIMEOUT
from .._interrupt import CutOff
from .._open_provider import positive_setting, read_api_key
from ..anthropic.abilities import Abilities
from ..anthropic.assemble import stands_alone
from ..anthropic.refusals import Refused, refusal
from ..anthropic.request import Settings
from ..anthropic.service import ANTHROPIC, Service
from ..anthropic.wire import Failure
from .program import Program
from .tools import wire_name

NAME = "claude_cli"

CLAUDE_CLI = replace(ANTHROPIC, name=NAME, breakpoints=False, schemas=False, counts=False, tool_name=wire_name)

_FAILURES = (CutOff, OSError, ValueError, RecursionError)


class ClaudeCliProvider(Abilities):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    service: ClassVar[Service] = CLAUDE_CLI
    name = NAME

    def __init__(self) -> None:
        super().__init__()
        self._program: Program | None = None
        self._max_tokens: int | None = None
        self._thinking: dict[str, Any] | None = None
        self._silence = DEFAULT_TIMEOUT
        self._calls: Caller

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; starts no process.

        `api_key` is needed, here or as ANTHROPIC_API_KEY. `base_url`, `program` (its name on PATH, or where it is),
        `cwd`, `max_tokens`, `thinking` (as for `set_thinking_config`) and `timeout` (seconds of silence that end a
        call) may be left out. Other keys are ignored. Raises UsageError where the program is not there.
        """
        key = read_api_key(config, *ANTHROPIC.key_variables)
        self.shutdown()
        self._max_tokens = positive_setting(config, "max_tokens")
        self._silence = float(config.get("timeout", DEFAULT_TIMEOUT))
        self.set_thinking_config(config.get("thinking"))
        self._program = Program.of(config, key)
        self._calls = Caller(_FAILURES, partial(_typed, secret=key), stands_alone)

    @property
    def is_connected(self) -> bool:
        """Whether calls can be made: initialized, a model chosen, not shut down."""
        return self._program is not None and super().is_connected

    def shutdown(self) -> None:
        """Remove what the program has written. Calls made afterwards raise UsageError."""
        program, self._program = self._program, None
        if program is not None:
            program.remove()

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Switch thinking on (`{"budget_tokens": n}`, `{"type": "adaptive"}`) or off (None) for later calls."""
        self._thinking = self.service.thinking(config)

    def _opened(self) -> Program:
        if self._program is None:
            raise UsageError("the provider is not open: call initialize() and connect() first")
        return self._program

    def _settings(self) -> Settings:
        if self._model is None:
            raise UsageError("no model is chosen: call connect() first")
        return Settings(self.service, self._model, self._max_tokens, self._thinking)

    def _failed(self, told: Failure) -> ProviderError:
        text = scrubbed(told.message or told.type or "an error without a word", self._opened().api_key)
        return refusal(Refused(200, told.type, text))


def _typed(error: Exception, secret: str) -> ProviderError:
    return TransportError(f"no complete answer from claude ({type(error).__name__}: {scrubbed(str(error), secret)})")
