"""The stateless path at OpenAI: nothing is stored, and reasoning goes back encrypted.

An answer in the background alone is stored, which the service demands.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from ..._answers import Listeners
from ..._calling import Prompt
from ..._names import tool_names
from ..names import restorer
from ..stateless import ResponsesStateless
from .background import IN_BACKGROUND, BackgroundResponses


class OpenAIResponsesStateless(ResponsesStateless, BackgroundResponses):
    """`complete()` for OpenAI's Responses API. One object serves any number of conversations and threads."""

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if not self._is_in_background:
            return super()._complete(prompt, listeners, token)
        body, client = self._body(prompt, stream=listeners.on_chunk is not None), self._require_client()
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._answered(
            partial(self._ask, body, client, {}), partial(self._open, body, client, {}), restore, listeners, token
        )

    def _fields(self, prompt: Prompt) -> Mapping[str, Any]:
        return {**super()._fields(prompt), **(IN_BACKGROUND if self._is_in_background else {})}
