"""A worker that imports this module is watched from then on: an audit hook cannot be taken back. See `outbound`."""

from __future__ import annotations

import sys

from .outbound_connections import watch

sys.addaudithook(watch)
