"""Anthropic's SDK as a client of an emulated service: sends requests that it would not make by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2

from turnproof.dialects.base import HttpRequest, World
from turnproof.dialects.contract import Dialect
from turnproof.wire.emulator import EmulatorServer, ServerRun

from .responders import open_run_in


@dataclass
class SdkClient:
    """The client, and the run that it speaks to. `base_path` is what the client puts in front of a path by itself."""

    client: anthropic.Anthropic
    run: ServerRun
    base_path: str = ""

    def send(self, request: HttpRequest) -> Any:
        """The response; raises as the SDK does. No header of the SDK's goes out but those of the request."""
        headers: Any = {"authorization": anthropic.Omit(), "anthropic-version": anthropic.Omit()}
        return self.client.post(
            request.path.removeprefix(self.base_path),
            cast_to=httpx2.Response,
            content=request.body,
            options={"headers": headers | request.headers},
        )


@contextmanager
def sdk_client(
    server: EmulatorServer, dialect: Dialect, world: World, key: str, base_path: str = ""
) -> Iterator[SdkClient]:
    """A client of a service that knows this world."""
    run = open_run_in(world, server, dialect)
    with anthropic.Anthropic(base_url=run.base_url, api_key=key, max_retries=0, http_client=httpx2.Client()) as client:
        yield SdkClient(client, run, base_path)
