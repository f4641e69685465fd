"""Scenarios with plainer words in them: texts, arguments and results that do not matter are all alike afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from ...scenarios.documents import Document, parts_of

Place = tuple[str | int, ...]
Kind = Literal["text", "pieces", "thinking", "call", "result", "tool"]

PLAIN: Final = "Yes."
"""What a text becomes that does not matter."""


def plainer(document: Document) -> Iterator[Document]:
    """With everything plain at once; then with one thing plainer after the other."""
    places = list(_places(document))
    plain = document
    for place, kind in places:
        plain = _with_value(plain, place, _plainest(kind, _at(plain, place)))
    yield plain
    for place, kind in places:
        for value in _plainer(kind, _at(document, place)):
            yield _with_value(document, place, value)


def _places(document: Document) -> Iterator[tuple[Place, Kind]]:
    """Everything that can be plainer, with what kind of thing it is."""
    if "system" in document:
        yield ("system",), "text"
    for number, given_turn in enumerate(document.get("given", ())):
        yield from ((("given", number, "results", name), "result") for name in given_turn.get("results", ()))
    for number in range(len(document.get("tools", ()))):
        yield ("tools", number), "tool"
    for number, turn in enumerate(document["turns"]):
        yield from (((*("turns", number), *place), kind) for place, kind in _in_turn(turn))


def _in_turn(turn: dict[str, Any]) -> Iterator[tuple[Place, Kind]]:
    if isinstance(turn["user"], str):
        yield ("user",), "text"
    else:
        yield from ((("user", n), "text") for n, part in enumerate(turn["user"]) if isinstance(part, str))
    if "system" in turn:
        yield ("system",), "text"
    if "inject" in turn:
        yield from ((("inject", key), "text") for key in turn["inject"])
    for round_, answer in enumerate(turn["model"]):
        structured = "response_schema" in turn and round_ == len(turn["model"]) - 1
        inside: Place = ("model", round_, "parts") if isinstance(answer, dict) else ("model", round_)
        for n, part in enumerate(parts_of(answer)):
            kind = _kind(part)
            if kind is not None and not (structured and kind in ("text", "pieces")):
                yield (*inside, n), kind
    yield from ((("results", name), "result") for name in turn.get("results", ()))


def _kind(part: Any) -> Kind | None:
    match part:
        case str():
            return "text"
        case {"text": _}:
            return "pieces"
        case {"thinking": [*_]}:
            return "thinking"
        case {"call": _}:
            return None if "broken" in part else "call"
        case _:
            return None


def _plainest(kind: Kind, value: Any) -> Any:
    return next(_plainer(kind, value), value)


def _plainer(kind: Kind, value: Any) -> Iterator[Any]:
    """What may stand there instead, the plainest first; nothing where it is as plain as can be."""
    match kind:
        case "text":
            yield from _plain_texts(value)
        case "pieces":
            yield from _plain_texts("".join(value["text"]))
            yield "".join(value["text"])
            yield from ({"text": pieces} for pieces in _fewer_pieces(value["text"]))
        case "thinking":
            yield from ({"thinking": pieces} for pieces in _fewer_pieces(value["thinking"]))
        case "tool":
            yield from ({"name": value["name"]} for _ in range(len(value) > 1))
        case "call":
            yield from _plain_calls(value)
        case "result":
            yield from _plain_results(value)


def _plain_texts(text: str) -> Iterator[str]:
    if text != PLAIN:
        yield PLAIN
        yield from (part for part in shorter(text) if _says_something(part) or not _says_something(text))


def _says_something(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _fewer_pieces(pieces: Sequence[str]) -> Iterator[list[str]]:
    """Plain pieces, as many as they were; then neighbours joined, and single pieces shorter."""
    if any(piece != PLAIN for piece in pieces):
        yield [PLAIN for _ in pieces]
    for n in range(len(pieces) - 1):
        yield [*pieces[:n], pieces[n] + pieces[n + 1], *pieces[n + 2 :]]
    for n, piece in enumerate(pieces):
        yield from ([*pieces[:n], part, *pieces[n + 1 :]] for part in shorter(piece))


def _plain_calls(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    bare = {key: value for key, value in call.items() if key in ("call", "unknown")}
    args = call.get("args", {})
    if call != bare:
        yield bare
    if "pieces" in call:
        yield {**bare, **({"args": args} if args else {})}
    for simple in simpler(args):
        yield {**bare, **({"args": simple} if simple else {})}


def _plain_results(script: dict[str, Any]) -> Iterator[dict[str, Any]]:
    plain = {"result": "ok"} if "error" not in script else {"error": "no"}
    if script in (plain, {"result": "ok"}):
        return
    yield from ({"result": "ok"}, plain)
    for case in script.get("cases", ()):
        yield {key: value for key, value in case.items() if key != "when"}
    for name in ("cases", "attachments"):
        if name in script and len(script) > 1:
            yield {key: script[key] for key in script if key != name}
    if "result" in script:
        yield from ({**script, "result": value} for value in simpler(script["result"]))


def plainest(part: Any) -> Any:
    """A part of an answer that says as little as it can."""
    kind = _kind(part)
    return part if kind is None else _plainest(kind, part)


def _at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _with_value(value: Any, place: Place, new: Any) -> Any:
    """A copy with another value in that place."""
    if not place:
        return new
    step, *rest = place
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = _with_value(value[step], tuple(rest), new)
    return copy


_FEW: Final = 40
"""Up to so many letters each one is tried without."""


def simpler(value: Any) -> Iterator[Any]:
    """JSON values simpler than this one, the simplest first."""
    match value:
        case dict():
            yield from ({key: value[key] for key in value if key != name} for name in value)
            yield from ({**value, name: one} for name, inner in value.items() for one in simpler(inner))
        case list():
            yield from (value[:place] + value[place + 1 :] for place in range(len(value)))
            yield from ([*value[:n], one, *value[n + 1 :]] for n, inner in enumerate(value) for one in simpler(inner))
        case str():
            yield from shorter(value)
        case bool() | None | 0:
            pass
        case _:
            yield 0


def shorter(text: str) -> Iterator[str]:
    """Parts of a text: its halves, then all but one letter."""
    if len(text) > 1:
        yield text[len(text) // 2 :]
        yield text[: len(text) // 2]
    if 2 < len(text) <= _FEW:
        yield from (text[:place] + text[place + 1 :] for place in range(len(text)))
