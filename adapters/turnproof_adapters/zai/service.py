"""Z.ai as a service of Anthropic's API, and its provider: https://docs.z.ai/devpack/tool/claude.

Caching is implicit, so cache marks say nothing. Thinking comes signed or not, and is on unless switched off. Token
counts are not relied on: the address for them answers with figures, with 404, or with an error under status 200.
"""

from __future__ import annotations

from typing import Any

from .._calling import Prompt
from ..anthropic.lifecycle import AnthropicProvider
from ..anthropic.parts import Restore
from ..anthropic.service import compatible_service
from . import models, refusals
from .arguments import as_declared

# In mainland China https://open.bigmodel.cn/api/anthropic, with keys of its own.
_ADDRESS = "https://api.z.ai/api/anthropic"
# Of zai-sdk and of the older zhipuai package.
_KEY_VARIABLES = ("ZAI_API_KEY", "ZHIPUAI_API_KEY")

SERVICE = compatible_service(models.NAME, models, refusals, _ADDRESS, _KEY_VARIABLES)


class ZaiProvider(AnthropicProvider):
    """What both paths have in common. Comes first among the bases of a path."""

    service = SERVICE
    name = SERVICE.name

    def _restorer(self, prompt: Prompt) -> Restore:
        restore = super()._restorer(prompt)

        def restored(wire_name: str, arguments: Any) -> tuple[str, Any]:
            name, args = restore(wire_name, arguments)
            schema = next((tool.parameters for tool in prompt.tools or () if tool.name == name), None)
            return name, as_declared(args, schema)

        return restored
