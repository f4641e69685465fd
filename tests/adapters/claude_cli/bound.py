"""The adapter over the stand-in of its program: what needs the program takes part without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from turnproof_adapters.claude_cli.binding import BINDING as ADAPTER

BINDING = replace(ADAPTER, options={**ADAPTER.options, "program": str(Path(__file__).with_name("standin.py"))})
