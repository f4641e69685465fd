"""A running server of the Responses API, and the official client of it."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.openai_responses import DIALECT
from turnproof.wire.emulator import EmulatorServer

from ..responders import ScriptedService

openai: Any = pytest.importorskip("openai")


class ClientService(ScriptedService):
    """A running server, what it says, and a client of it."""

    def __init__(self, server: EmulatorServer) -> None:
        super().__init__(server, DIALECT)
        self.client = openai.OpenAI(base_url=self.run.base_url, api_key="key", max_retries=0)
