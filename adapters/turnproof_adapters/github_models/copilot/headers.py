"""What Copilot wants to know of who asks, beside the token (`openai-chat.md` §6).

The defaults are those of the published editor, at the versions of November 2026's public gateways: Copilot refuses a
request without an editor (400) and an integration that it does not know (403).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.messages import FileRef, InlineData, Message, ToolResult

from ..._encoded_messages import Encoder

API_VERSION = "2025-05-01"


@dataclass(frozen=True, slots=True)
class Editor:
    """Who asks."""

    integration: str = "vscode-chat"
    version: str = "vscode/1.104.3"
    plugin_version: str = "copilot-chat/0.26.7"

    @classmethod
    def from_settings(cls, config: Mapping[str, Any]) -> Editor:
        """The editor of the settings `integration_id`, `editor_version` and `editor_plugin_version`."""
        usual = cls()
        return cls(
            str(config.get("integration_id") or usual.integration),
            str(config.get("editor_version") or usual.version),
            str(config.get("editor_plugin_version") or usual.plugin_version),
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request, also of the one for a token."""
        return {
            "Copilot-Integration-Id": self.integration,
            "Editor-Version": self.version,
            "Editor-Plugin-Version": self.plugin_version,
            "OpenAI-Intent": "conversation-agent",
            "X-GitHub-Api-Version": API_VERSION,
        }


class RequestHeaders:
    """The headers that depend on what is asked; each message is looked at once, as long as its conversation grows."""

    def __init__(self) -> None:
        self._looks: Encoder[_Looks] = Encoder(_Looks, _look)

    def for_conversation(self, messages: Sequence[Message]) -> dict[str, str]:
        """Those of a request with this conversation. Safe in several threads.

        A request that the user began costs a premium request, one that an agent goes on with (tool results) does not.
        Images are only looked at where a header announces them.
        """
        headers = {"X-Initiator": "agent" if messages and messages[-1].role == "tool" else "user"}
        if self._looks.arranged(messages).image:
            headers["Copilot-Vision-Request"] = "true"
        return headers


@dataclass(frozen=True, slots=True)
class _Look:
    """What a message shows."""

    image: bool
    marked = False  # of no cache mark does anything depend here


_LOOKS = _Look(image=False), _Look(image=True)


def _look(message: Message) -> _Look:
    return _LOOKS[_shows_an_image(message)]


@dataclass(slots=True)
class _Looks:
    """What the messages of a conversation show."""

    image: bool = False

    def copy(self) -> _Looks:
        return _Looks(self.image)

    def add(self, look: _Look) -> None:
        self.image = self.image or look.image


def _shows_an_image(message: Message) -> bool:
    for part in message.parts:
        match part:
            case InlineData() | FileRef():
                if part.mime_type.startswith("image/"):
                    return True
            case ToolResult(attachments=attached) if attached:
                if any(each.mime_type.startswith("image/") for each in attached):
                    return True
    return False
