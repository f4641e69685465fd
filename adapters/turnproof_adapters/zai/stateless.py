"""The stateless path: Anthropic's, at Z.ai."""

from __future__ import annotations

from ..anthropic.stateless import AnthropicStateless
from .service import ZaiProvider


class ZaiStateless(ZaiProvider, AnthropicStateless):
    """`complete()` for GLM models. One object serves any number of conversations and threads."""
