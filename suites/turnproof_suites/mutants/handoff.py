"""Adapters that do not cope with a conversation which began elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace as replace_inputs

from turnproof.messages import Message, Part, Text, Thought

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@suite_mutant("foreign-conversation-dropped")
class ForeignConversationDropped(Broken):
    """What another model has a part in is left out, up to the user's latest message."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if not any(_is_foreign(part) for message in inputs.messages for part in message.parts):
            return inputs
        user_places = [n for n, one in enumerate(inputs.messages) if one.role == "user"]
        return replace_inputs(inputs, messages=() if inputs.opens else inputs.messages[user_places[-1] :])


@suite_mutant("foreign-results-under-each-others-ids")
class ForeignResultsUnderEachOthersIds(Rewriting):
    """Results get legal ids in an order of their own, so that two of them change places."""

    def change_request(self, wire: Wire, body: Json) -> None:
        (first, key), (second, _) = itertools.islice(wire.result_ids(body), 2)
        first[key], second[key] = second[key], first[key]


@suite_mutant("foreign-ids-sent-as-they-are")
class ForeignIdsSentAsTheyAre(Rewriting):
    """Ids go out as another service issued them, however long, and with whatever characters."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for place, key in itertools.chain(wire.call_ids(body), wire.result_ids(body)):
            place[key] = f"functions.{place[key]}:{place[key]}:{'0' * 64}"


@suite_mutant("foreign-ids-cut-alike")
class ForeignIdsCutAlike(Rewriting):
    """Ids are cut to a length that the API takes, which makes some of them the same."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for place, key in itertools.chain(wire.call_ids(body), wire.result_ids(body)):
            place[key] = place[key][:4]


@suite_mutant("foreign-thinking-spelled-out")
class ForeignThinkingSpelledOut(Broken):
    """A part that the adapter cannot use is sent as text, with everything that stood in it."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        def spell(part: Part) -> Part:
            if isinstance(part, Thought) and _is_foreign(part):
                assert part.provider_data is not None
                return Text(f"[thought {part.text} {part.provider_data.data['signature']}]")
            return part

        return replace_inputs(inputs, messages=_with_parts(inputs.messages, spell))


@suite_mutant("instructions-between-turns-dropped")
class InstructionsBetweenTurnsDropped(Broken):
    """A message of a role that the API has no place for is left out."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, messages=[one for one in inputs.messages if one.role != "system"])


def _is_foreign(part: Part) -> bool:
    return part.provider_data is not None and part.provider_data.dialect == "elsewhere"


def _with_parts(messages: Sequence[Message], change: Callable[[Part], Part]) -> list[Message]:
    return [Message(one.role, tuple(map(change, one.parts)), one.message_id) for one in messages]
