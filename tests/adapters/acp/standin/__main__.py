from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))  # a part of its package, from wherever it is run

from adapters.acp.standin.agent import Agent
from adapters.acp.standin.flags import flags

Agent(flags()).run()
