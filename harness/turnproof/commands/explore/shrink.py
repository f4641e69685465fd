"""From a scenario that fails to the smallest one that still does.

There are several ways to make a scenario smaller; the bold ones come first. Each gives a valid conversation.

hypothesis could shrink what it has drawn. But an attempt costs a conversation over HTTP here, and whoever knows what a
turn is needs far fewer of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

from ...dialects.tool_pairing import are_told_apart
from ...messages import ToolSchema
from ...scenarios.documents import Document, Round, Turn, calls_of, events, parts_of, pauses, running
from .plain_words import PLAIN, plainer, plainest

_ALWAYS: Final = "usage:1"
"""An event that every answer has."""

_PLACED: Final = ("cancel", "faults", "interject")
"""What happens at a place of its own in a turn."""

_BARE: Final[Turn] = {"user": PLAIN, "model": [[PLAIN]]}

_HAPPENINGS: Final = (
    ("cancel", "faults", "error"), ("cancel",), ("faults", "error"), ("interject",), ("child",), ("before", "revert"),
    ("before",), ("revert",), ("inject",), ("system",), ("tools",), ("response_schema",), ("advance_clock",),
)  # fmt: skip


# -- the whole scenario -------------------------------------------------------------------------------------


def fewer_turns(document: Document) -> Iterator[Document]:
    """Without one or several of its turns, and with turns in which nothing happens."""
    turns = document["turns"]
    for count in range(len(turns) - 1, 0, -1):
        for start in range(len(turns) - count, -1, -1):
            yield {**document, "turns": turns[:start] + turns[start + count :]}
    for number in range(len(turns)):
        yield _with_turn(document, number, _BARE)


def fewer_settings(document: Document) -> Iterator[Document]:
    """Without what holds for all turns: thinking, tools, a second mode, system text."""
    for key in ("given", "cache", "keep_turns", "probes", "system", "tools"):
        if key in document:
            yield _without(document, key)
    options = document.get("options", {})
    if "thinking" in options:
        yield _without_thinking(document)
    if "context_tokens" in options:
        yield _with_options(document, _without(options, "context_tokens"))
    yield from ({**document, "modes": modes} for modes in _without_one(document.get("modes", [])))
    for key in ("given", "probes", "tools"):
        yield from ({**document, key: rest} for rest in _without_one(document.get(key, [])))
    for number, given_turn in enumerate(document.get("given", ())):
        for smaller in _smaller_given(given_turn):
            given_turns = document["given"]
            yield {**document, "given": [*given_turns[:number], smaller, *given_turns[number + 1 :]]}


def _without_thinking(document: Document) -> Document:
    def unthinking(answer: Round) -> Round:
        parts = [part for part in parts_of(answer) if not _is_thought(part)]
        return {**answer, "parts": parts} if isinstance(answer, dict) else parts

    turns = [{**turn, "model": [unthinking(answer) for answer in turn["model"]]} for turn in document["turns"]]
    left = {key: value for key, value in document["options"].items() if key == "context_tokens"}
    return {**_with_options(document, left), "turns": turns}


def _with_options(document: Document, options: dict[str, Any]) -> Document:
    return {**document, "options": options} if options else _without(document, "options")


def _smaller_given(turn: Turn) -> Iterator[Turn]:
    """Ways to make a turn that was held elsewhere smaller."""
    if "system" in turn:
        return
    model = turn["model"]
    if "unanswered" in turn:
        yield _with_results({**_without(turn, "unanswered"), "model": [*model, [PLAIN]]})
    yield from (_with_results({**turn, "model": model[:n] + model[n + 1 :]}) for n in range(len(model) - 1))
    yield {**turn, "user": PLAIN}
    for n, answer in enumerate(model):
        for parts in (*_without_one(answer), *([plainest(part) for part in answer],)):
            yield _with_results({**turn, "model": [*model[:n], parts, *model[n + 1 :]]})


# -- one turn -----------------------------------------------------------------------------------------------


def _in_each_turn(smaller: Callable[[Turn], Iterator[Turn]]) -> Callable[[Document], Iterator[Document]]:
    """Ways to make a turn smaller, in every turn."""

    def apply(document: Document) -> Iterator[Document]:
        for number, turn in enumerate(document["turns"]):
            yield from (_with_turn(document, number, one) for one in smaller(turn))

    return apply


def fewer_happenings(turn: Turn) -> Iterator[Turn]:
    """Without what is done ahead of it, or goes wrong in it."""
    for keys in _HAPPENINGS:
        if keys[0] == "interject" in turn:
            yield _uninterrupted(turn)
        elif keys[0] in turn:
            yield _completed(_without(turn, *keys))
    before = turn.get("before", [])
    yield from ({**turn, "before": rest} for rest in _without_one(before))
    if "by" in turn.get("cancel", ()):
        yield {**turn, "cancel": _without(turn["cancel"], "by")}


def fewer_answers(turn: Turn) -> Iterator[Turn]:
    """Without a round, a part of an answer or of what the user says, or the way in which an answer ends."""
    model = turn["model"]
    yield from (_without_round(turn, place) for place in range(len(model) - 1))
    for place, answer in enumerate(model):
        for smaller in _smaller_answers(answer):
            yield {**turn, "model": [*model[:place], smaller, *model[place + 1 :]]}
    if isinstance(turn["user"], list):
        yield {**turn, "user": PLAIN}
        # Who says nothing in words begins no turn that a session could forget.
        fewer = _without_one(turn["user"])
        yield from ({**turn, "user": rest} for rest in fewer if any(isinstance(part, str) for part in rest))


def _smaller_answers(answer: Round) -> Iterator[Round]:
    """Never nothing at all: an empty answer is less of a conversation, and not a plainer one."""
    parts = parts_of(answer)
    if answer != [PLAIN]:
        yield [PLAIN]
    if not isinstance(answer, dict):
        yield from _without_one(parts)
        return
    yield list(parts)
    yield from (_without(answer, key) for key in ("finish", "usage") if key in answer and len(answer) > 2)
    yield from ({**answer, "parts": rest} for rest in _without_one(parts))


def _without_round(turn: Turn, place: int) -> Turn:
    """The turn without an answer; what happens later in it happens one round earlier."""

    def earlier(happening: Any) -> Any:
        if not isinstance(happening, dict) or happening.get("round", 0) <= place:
            return happening
        return {**happening, "round": happening["round"] - 1}

    moved: Turn = {key: earlier(turn[key]) for key in _PLACED if key in turn}
    return {**turn, **moved, "model": turn["model"][:place] + turn["model"][place + 1 :]}


def _completed(turn: Turn) -> Turn:
    """The turn with an answer to its last calls, where nothing cuts it off any more."""
    goes_on = calls_of(turn["model"][-1]) and "cancel" not in turn and "error" not in turn
    return {**turn, "model": [*turn["model"], [PLAIN]]} if goes_on else turn


def _uninterrupted(turn: Turn) -> Turn:
    """The turn without what is said in between; an answer that calls nothing is then the last one."""
    model = turn["model"]
    goes_on = calls_of(model[turn["interject"].get("round", 0)])
    return {**_without(turn, "interject"), "model": model if goes_on else model[:-1]}


# -- what makes sense ---------------------------------------------------------------------------------------


def _sensible(smaller: Callable[[Document], Iterator[Document]]) -> Callable[[Document], Iterator[Document]]:
    """Only what a model may say, and what happens for certain; the loader knows the rest."""
    return lambda document: filter(_is_sensible, smaller(document))


def _is_sensible(document: Document) -> bool:
    thinking = "thinking" in document.get("options", {})
    return _have_tools_apart(document) and all(_fits(turn, thinking=thinking) for turn in document["turns"])


def _have_tools_apart(document: Document) -> bool:
    """Whether each tool that is declared can be recognised under whatever name it goes out."""
    lists = [document.get("tools", []), *(turn.get("tools", []) for turn in document["turns"])]
    declared = [[tool for tool in tools if isinstance(tool, dict)] for tools in lists]
    return all(
        are_told_apart([ToolSchema(tool["name"], tool.get("description", "")) for tool in tools]) for tools in declared
    )


def _fits(turn: Turn, *, thinking: bool) -> bool:
    if turn["model"] and _has_block(turn["model"][0]) and not pauses(turn["model"][:1]):
        return False
    for answer, following in zip_longest(turn["model"], turn["model"][1:]):
        parts = parts_of(answer)
        if pauses([answer]) and not (_has_block(answer) and following is not None and _has_block(following)):
            return False  # a service pauses in a tool of its own alone, and goes on with what that found
        if following is not None and _has_block(following) and not pauses([answer]):
            return False  # and it has nothing of such a tool without having called it
        if thinking and calls_of(answer) and not _is_thought(parts[0]):
            return False  # a service refuses to go on from calls that nobody has thought about
    if "response_schema" in turn and not calls_of(turn["model"][-1]) and not _is_json(turn["model"][-1]):
        return False
    return all(_comes_true(turn, turn[key]) for key in _PLACED if isinstance(turn.get(key), dict))


def _has_block(answer: Round) -> bool:
    return any(isinstance(part, dict) and "block" in part for part in parts_of(answer))


def _comes_true(turn: Turn, happening: dict[str, Any]) -> bool:
    """Whether a cancel or a fault finds what it waits for."""
    number = happening.get("round", 0)
    if number >= len(turn["model"]):
        return False
    answer = turn["model"][number]
    if happening.get("at") in ("tool", "between-tools"):
        return bool(happening.get("index", 0) < len(running(answer)))
    return happening.get("after", _ALWAYS) in (*events(answer), _ALWAYS)


def _is_json(answer: Round) -> bool:
    texts = [part if isinstance(part, str) else "".join(part.get("text", ())) for part in parts_of(answer)]
    try:
        return isinstance(json.loads("".join(texts)), dict)
    except ValueError:
        return False


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and ("thinking" in part or "redacted" in part)


def _with_turn(document: Document, number: int, turn: Turn) -> Document:
    """The document with another turn in this place, and with results for the calls that it makes."""
    return {**document, "turns": [*document["turns"][:number], _with_results(turn), *document["turns"][number + 1 :]]}


def _with_results(turn: Turn) -> Turn:
    """The turn with results for the calls that it makes, and no others."""
    call_names = {call["call"] for answer in turn["model"] for call in running(answer)}
    results = {name: script for name, script in turn.get("results", {}).items() if name in call_names}
    return {**_without(turn, "results"), **({"results": results} if results else {})}


def _without_one(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items without each of them in turn; nothing of a single one, which would leave none."""
    places = range(len(items)) if len(items) > 1 else ()
    return ([*items[:place], *items[place + 1 :]] for place in places)


def _without(mapping: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}


PASSES: Final = tuple(
    map(
        _sensible,
        (fewer_turns, _in_each_turn(fewer_happenings), fewer_settings, _in_each_turn(fewer_answers), plainer),
    )
)
"""All ways, in the order in which they are best tried."""


MOST_ATTEMPTS: Final = 300
"""Smaller scenarios that are tried before the smallest so far is good enough."""


def smallest(document: Document, fails: Callable[[Document], bool], most: int = MOST_ATTEMPTS) -> tuple[Document, int]:
    """The smallest document that was found to fail like this one, and how many were tried for it.

    `fails` is asked at most once for each document; for one that makes no sense it says no.
    """
    known = {json.dumps(document)}
    changed = True
    while changed:
        changed = False
        for smaller in PASSES:
            candidates = smaller(document)
            while len(known) <= most and (candidate := next(candidates, None)) is not None:
                written = json.dumps(candidate)
                if written not in known:
                    known.add(written)
                    if fails(candidate):
                        document, changed, candidates = candidate, True, smaller(candidate)
    return document, len(known) - 1
