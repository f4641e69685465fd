"""What all tests share: how random examples are drawn."""

from __future__ import annotations

import properties

properties.register()
