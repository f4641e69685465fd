"""The control of Z.ai's Anthropic-compatible endpoint (docs.z.ai: Claude Code; error codes)."""

from __future__ import annotations

from typing import Any

from ._adapter import control
from .anthropic_messages import MessagesApi


class ZaiApi(MessagesApi):
    """Anthropic's API at another address; what is told of usage replaces what was told before, as it does there."""

    def complaint(self, document: Any) -> tuple[str, str]:
        """The service's code (or a type) and message, in any of its shapes."""
        match document:
            case {"error": dict(error)}:
                return error.get("code") or error.get("type") or "", error["message"]
            case {"error": message}:
                return "", message
            case _:
                return str(document.get("code", "")), str(document.get("msg", ""))


CONTROL = control("zai", "glm-4.7", ZaiApi())
