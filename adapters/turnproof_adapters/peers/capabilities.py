"""What the bindings of libraries claim alike; each replaces and adds what its library can."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .. import _open_provider

COMMON_CAPABILITIES = replace(
    _open_provider.COMMON_CAPABILITIES,
    lifecycle=False,
    serialisers=False,
    error_details=False,
    thinking_tokens=False,
    images=True,
    documents=True,
)

AGENT_CAPABILITIES = Capabilities(
    streaming=True,
    tools=True,
    parallel_tools=True,
    images=True,
    documents=True,
    cancel=True,
    typed_errors=True,
    retries=False,
    result_cutting=False,
)
"""The same of agents, whose requests and errors are their library's."""
