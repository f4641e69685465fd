"""What the bindings of libraries claim alike; each replaces and adds what its library can."""

from __future__ import annotations

from turnproof.provider import Capabilities

COMMON_CAPABILITIES = Capabilities(
    streaming=True,
    tools=True,
    parallel_tools=True,
    images=True,
    documents=True,
    cancel=True,
    cancel_batch=True,
    typed_errors=True,
)
