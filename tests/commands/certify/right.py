"""An adapter that is right, as somebody's `module:attribute`: whoever accuses it is wrong."""

from __future__ import annotations

import dataclasses

from turnproof.wire.controls.anthropic_messages import CONTROL

RIGHT = dataclasses.replace(CONTROL, name="right")
