"""What both paths are apart from a conversation: settings, and questions that need no process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from turnproof.errors import ProviderError, TransportError

from .._answers import stands_alone
from .._calling import Caller
from .._errors import hide_secret
from .._http import DEFAULT_TIMEOUT
from .._interrupt import CutOff
from .._open_provider import positive_setting, read_api_key
from ..anthropic.refusals import Refused, refusal
from ..anthropic.request import Settings
from ..anthropic.service import ANTHROPIC, Service, ServiceProvider
from ..anthropic.wire import Failure
from .program import Program
from .tools import wire_name

NAME = "claude_cli"

CLAUDE_CLI = replace(ANTHROPIC, name=NAME, breakpoints=False, schemas=False, counts=False, tool_name=wire_name)

_FAILURES = (CutOff, OSError, ValueError, RecursionError)


class ClaudeCliProvider(ServiceProvider[Program]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    service: ClassVar[Service] = CLAUDE_CLI
    name = NAME

    def __init__(self) -> None:
        super().__init__()
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
        self._client = Program.from_settings(config, key)
        self._calls = Caller(_FAILURES, partial(_typed, secret=key), stands_alone)

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Switch thinking on (`{"budget_tokens": n}`, `{"type": "adaptive"}`) or off (None) for later calls."""
        self._thinking = self.service.thinking(config)

    def _close_client(self, client: Program) -> None:
        client.remove()

    def _settings(self) -> Settings:
        return Settings(self.service, self._require_model(), self._max_tokens, self._thinking)

    def _failed(self, failure: Failure) -> ProviderError:
        text = hide_secret(failure.message or failure.type or "an error without a word", self._require_client().api_key)
        return refusal(Refused(200, failure.type, text))


def _typed(error: Exception, secret: str) -> ProviderError:
    return TransportError(f"no complete answer from claude ({type(error).__name__}: {hide_secret(str(error), secret)})")
