"""What both paths are apart from a conversation, as far as it differs from Anthropic's."""

from __future__ import annotations

from typing import Any

from .._calling import Prompt
from ..anthropic.lifecycle import AnthropicProvider
from ..anthropic.parts import Restore
from .arguments import as_declared
from .service import SERVICE


class ZaiProvider(AnthropicProvider):
    """Common ground of the two paths. Comes first among the bases of a path."""

    service = SERVICE
    name = SERVICE.name

    def _restorer(self, prompt: Prompt) -> Restore:
        restore = super()._restorer(prompt)

        def restored(wire_name: str, given: Any) -> tuple[str, Any]:
            name, args = restore(wire_name, given)
            schema = next((tool.parameters for tool in prompt.tools or () if tool.name == name), None)
            return name, as_declared(args, schema)

        return restored
