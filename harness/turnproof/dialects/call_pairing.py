"""Which call on one side is which on the other, whatever their ids are: one relation for every check.

An id links a call to its result and means nothing else. An adapter may call a call otherwise in its answers than the
service does, as long as the service gets its own id back, on the call and on its result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ..messages import FunctionCall, Message, Part, ToolResult

_encode = msgspec.json.Encoder(order="sorted").encode

Key = Callable[[FunctionCall], Hashable]


def pair_calls(
    ours: Sequence[FunctionCall], theirs: Sequence[FunctionCall], issued: Mapping[str, str] | None = None
) -> list[tuple[FunctionCall, FunctionCall]]:
    """The calls that are each other's counterpart, in our order; a call without one is in no pair.

    Equal ids go first, then ids of ours that stand for an id of theirs by `issued`, then in order those of one tool
    with equal arguments, those with equal arguments, and the rest where as many are left on both sides.
    """
    if not ours or not theirs:
        return []
    known = issued or {}
    rounds: tuple[tuple[Key, Key], ...] = (
        (lambda call: (call.id, _encode(call.args)), lambda call: (call.id, _encode(call.args))),
        (lambda call: call.id, lambda call: call.id),
        (lambda call: known.get(call.id), lambda call: call.id),
        (lambda call: (call.name, _encode(call.args)), lambda call: (call.name, _encode(call.args))),
        (lambda call: _encode(call.args), lambda call: _encode(call.args)),
    )
    partner: dict[int, int] = {}
    for our_key, their_key in rounds:
        waiting: dict[Hashable, list[int]] = {}
        used = set(partner.values())
        for number, call in enumerate(theirs):
            if number not in used:
                waiting.setdefault(their_key(call), []).append(number)
        for number, call in enumerate(ours):
            if number not in partner and waiting.get(our_key(call)):
                partner[number] = waiting[our_key(call)].pop(0)
    used = set(partner.values())
    left = [number for number in range(len(ours)) if number not in partner]
    free = [number for number in range(len(theirs)) if number not in used]
    if len(left) == len(free):
        partner.update(zip(left, free, strict=True))
    return [(ours[number], theirs[partner[number]]) for number in sorted(partner)]


def with_held_ids(
    sent: Sequence[Message], history: Iterable[Message], issued: Mapping[str, str] | None = None
) -> tuple[Message, ...]:
    """Sent messages with the session's ids on their calls, and on the results of these.

    A result that does not have the id of its call on the wire keeps what it has, and so does a call whose held id
    stands on the wire for something else.
    """
    theirs = [part for message in sent for part in message.parts if isinstance(part, FunctionCall)]
    ours = [part for message in history for part in message.parts if isinstance(part, FunctionCall)]
    sent_ids = {call.id for call in theirs}
    sent_ids |= {part.call_id for message in sent for part in message.parts if isinstance(part, ToolResult)}
    if all(call.id in sent_ids for call in ours):
        return tuple(sent)
    own = {id(wire): call.id for call, wire in pair_calls(ours, theirs, issued) if call.id not in sent_ids}
    if not own:
        return tuple(sent)
    current = {wire.id: own[id(wire)] for wire in reversed(theirs) if id(wire) in own}

    def part_with_held_id(part: Part) -> Part:
        if isinstance(part, FunctionCall):
            current[part.id] = own.get(id(part), part.id)
            return replace(part, id=current[part.id])
        if isinstance(part, ToolResult) and part.call_id in current:
            return replace(part, call_id=current[part.call_id])
        return part

    return tuple(replace(message, parts=tuple(map(part_with_held_id, message.parts))) for message in sent)
