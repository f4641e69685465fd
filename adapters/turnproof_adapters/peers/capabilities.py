"""What the bindings of libraries claim alike; each replaces and adds what its library can."""

from __future__ import annotations

from dataclasses import replace

from .. import _open_provider

COMMON_CAPABILITIES = replace(
    _open_provider.COMMON_CAPABILITIES, lifecycle=False, serialisers=False, images=True, documents=True
)
