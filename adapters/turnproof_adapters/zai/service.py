"""Z.ai as a service of Anthropic's API: https://docs.z.ai/devpack/tool/claude.

Caching is implicit, so cache marks say nothing. Thinking comes signed or not, and is on unless switched off. Token
counts are not relied on: the address for them answers with figures, with 404, or with an error under status 200.
"""

from __future__ import annotations

from ..anthropic.service import Service
from ..anthropic.thinking import switched
from . import models, refusals

SERVICE = Service(
    name=models.NAME,
    dialect=models.DIALECT,
    # In mainland China https://open.bigmodel.cn/api/anthropic, with keys of its own.
    address="https://api.z.ai/api/anthropic",
    # Of zai-sdk and of the older zhipuai package.
    key_variables=("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
    facts=models.model,
    same_model=models.same_model,
    complaint=refusals.complaint,
    refusal=refusals.refusal,
    thinking=switched,
    signs=False,
    breakpoints=False,
    schemas=False,
    counts=False,
)
