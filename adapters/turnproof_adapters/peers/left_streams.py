"""The source that reads a stream, for reproducers; of a call that is cancelled it stops reading, as `pieces` does."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.reproducer import LibraryCall


def collected(name: str, stream: str, piece: str, call: LibraryCall) -> Iterator[str]:
    """Lines that put what a stream gives into the list `name`. `stream` is an expression for it, and `piece` one for
    the visible text in `one` of what it gives, as far as it is true or not."""
    if call.left_after is None:
        yield f"{name} = [one async for one in {stream}]"
        return
    yield f"{name}, stream = [], {stream}"
    yield "async for one in stream:"
    yield f"    {name}.append(one)"
    yield f"    if sum(bool({piece}) for one in {name}) == {call.left_after}:"
    yield "        break"
    yield "await (getattr(stream, 'aclose', None) or stream.close)()"
