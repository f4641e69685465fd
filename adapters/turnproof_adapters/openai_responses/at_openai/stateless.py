"""The stateless path at OpenAI: nothing is stored, and reasoning goes back encrypted.

An answer in the background alone is stored, which the service demands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._calling import Prompt
from ..stateless import ResponsesStateless
from .background import IN_BACKGROUND, BackgroundResponses


class OpenAIResponsesStateless(ResponsesStateless, BackgroundResponses):
    """`complete()` for OpenAI's Responses API. One object serves any number of conversations and threads."""

    def _fields(self, prompt: Prompt) -> Mapping[str, Any]:
        return {**super()._fields(prompt), **(IN_BACKGROUND if self._is_in_background else {})}
