"""Decides which places hold history, by what they are given and how they are used."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import NOTHING, Contents, Degree, Mark, Object, Place, Value, degree_of_input
from .knowledge import World
from .statements import is_history_getter
from .vocabulary import is_history_name, makes_message


def histories(world: World) -> set[Place]:
    """The places that hold history, among those that the objects asked about can reach.

    One sign is enough where it leaves no doubt: the place is given what was said or a history, it grows by what is
    said, it is what `get_history()` returns, it holds an SDK's chat object or the id of one, or a request takes from it
    the id of what the service keeps. Of the weaker ones it takes two: the name, the type, or something made of what was
    said; and with one of these a list, or what `get_history()` makes its result of. What holds a copy of a history is
    one, too. What is weak is none: it forgets with the messages.
    """
    reached = reachable(world)
    candidates = _candidates(world, reached)
    found = {place for place in candidates if place in world.chain_ids or _is_history(world, place)}
    while more := {place for place in candidates - found if _copies(world, place, found)}:
        found |= more
    messages = _elements(world, found)
    return {place for place in found if place.owner not in messages}


def _elements(world: World, places: set[Place]) -> set[type]:
    """The classes of what stands in the lists among these places: messages, and what messages are made of."""
    lists = (world.fields.get(place, NOTHING) for place in places)
    classes = [_classes(value) - {world.root} for value in lists if Mark.CONTAINER in value]
    return _kept_by(world, set().union(*classes))


def reachable(world: World) -> set[type]:
    """The classes of objects that live as long as the one that is asked about, which keeps them.

    Messages are none of them: a history is made of them, they hold none.
    """
    return _kept_by(world, [world.root, *world.shared])


def _kept_by(world: World, classes: Iterable[type]) -> set[type]:
    """These classes, and those of the objects that theirs hold, by strong references."""
    reached: set[type] = set()
    waiting = list(classes)
    while waiting:
        owner = waiting.pop()
        reached.add(owner)
        for place, value in list(world.fields.items()):
            if place.owner == owner and Mark.WEAK not in value:
                waiting += [cls for cls in _classes(value) - reached if not makes_message(cls.__name__)]
    return reached


def _classes(value: Value) -> set[type]:
    return {fact.cls for fact in value if isinstance(fact, Object)}


def _candidates(world: World, reached: set[type]) -> set[Place]:
    changed = {one.what for touched in world.touched.values() for one in touched if one.kind == "writes"}
    every = {place for place, value in world.fields.items() if Mark.WEAK not in value} | world.typed
    # What stands in a module and is never changed is a table.
    return {place for place in every if (place in changed if isinstance(place.owner, str) else place.owner in reached)}


def _is_history(world: World, place: Place) -> bool:
    value, added = world.fields.get(place, NOTHING), world.additions.get(place, NOTHING)
    if value & {Mark.CHAT, Mark.CHAT_ID} or (degree_of_input(value) or 0) >= Degree.COPY or degree_of_input(added):
        return True
    returned = _returned(world, place)
    if returned >= Degree.COPY:
        return True
    signs = [is_history_name(place.path.rpartition(".")[2]), place in world.typed, bool(degree_of_input(value))]
    return any(signs) and sum([*signs, Mark.CONTAINER in value, bool(returned)]) >= 2


def _returned(world: World, place: Place) -> int:
    """How much of it the history getters give back."""
    values = (value for key, value in world.returns.items() if is_history_getter(key, world.root))
    return max((_degree(value, [place]) for value in values), default=0)


def _copies(world: World, place: Place, places: set[Place]) -> bool:
    both = (world.fields.get(place, NOTHING), world.additions.get(place, NOTHING))
    return any(_degree(value, places) >= Degree.COPY for value in both)


def _degree(value: Value, places: Iterable[Place]) -> int:
    of = set(places)
    return max((fact.degree for fact in value if isinstance(fact, Contents) and fact.place in of), default=0)
