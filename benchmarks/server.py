"""A provider that answers at once: fixed bytes for every POST, in a process of its own.

Run as `python server.py`; prints its port. It parses no more of a request than where it ends, so that none of its
cost can be taken for a client's.
"""

from __future__ import annotations

import asyncio
import json

REPLY = {
    "model": "claude-sonnet-4-5-20250929",
    "id": "msg_01bench",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Bed 3 is at 41 % moisture."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 31,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 14,
        "service_tier": "standard",
    },
}
BODY = json.dumps(REPLY).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class FixedReply(asyncio.Protocol):
    """Keep-alive HTTP/1.1 with one answer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = bytearray()
        self._missing = 0

    def data_received(self, data: bytes) -> None:
        if self._missing:
            taken = min(self._missing, len(data))
            self._missing -= taken
            data = data[taken:]
            if self._missing:
                return
            self._transport.write(ANSWER)
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
            rest = len(self._buffer) - end - 4
            if rest < length:
                self._missing = length - rest
                self._buffer.clear()
                return
            del self._buffer[: end + 4 + length]
            self._transport.write(ANSWER)


async def main() -> None:
    """Serve until the parent closes our standard output or kills us."""
    server = await asyncio.get_running_loop().create_server(FixedReply, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
