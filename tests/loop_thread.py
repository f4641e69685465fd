"""An aiohttp server on an event loop of its own, in a thread beside the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web


@contextmanager
def serving_app(app: web.Application, *, keepalive_timeout: float = 75.0) -> Iterator[str]:
    """The application on a free port of loopback until the block ends: its address."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app, keepalive_timeout=keepalive_timeout, shutdown_timeout=0.1, handler_cancellation=True)

    async def start() -> str:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    address = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.run_until_complete(runner.cleanup())
        loop.close()
