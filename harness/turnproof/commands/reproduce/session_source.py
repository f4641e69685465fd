"""The source of a conversation with a library's agent: its turns, what its tools return, and what is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...reproducer import LibrarySession, SessionCode
from .file_source import SILENCE, Layout, Program, place_source
from .session_question import SessionQuestion
from .session_turns import FileTurn, is_failing

PATIENCE = 15
"""Seconds after which a turn that does not end is one that hangs."""


@dataclass(frozen=True)
class Conversation:
    """A conversation as a file has it: who speaks with what, how the library is used, and what is said."""

    session: LibrarySession
    code: SessionCode
    turns: Sequence[FileTurn]


def program_of(question: SessionQuestion, conversation: Conversation, number: int, base_path: str) -> Program:
    """The program of a file that has this conversation. `number` is that of the request that is looked at."""
    return Program(
        conversation.code.imports,
        lambda layout: _converse(conversation, layout),
        list(_look(question, number, base_path)),
        _predicate(question),
        heads=question.sight == "header",
        again=False,
    )


def _converse(conversation: Conversation, layout: Layout) -> Iterator[str]:
    session, code, turns = conversation.session, conversation.code, conversation.turns
    fields = {
        "text": True,
        "results": bool(session.tools) and any(one.results for one in turns),
        "cancelled": any(one.cancelled is not None for one in turns),
    }
    names = [name for name, is_used in fields.items() if is_used]
    yield "shown, runs, stops, silences = [], [], [], []"
    rows = [_row(one, names, texts=code.text_results) for one in turns]
    if layout.messages and len(rows) > 1:
        yield "TURNS = ["
        yield from (f"    {row}," for row in rows)
        yield "]"
    else:
        yield f"TURNS = [{', '.join(rows)}]"
    yield ""
    yield "async def converse(url):"
    yield from _run(turns) if session.tools else ()
    yield from _show(turns) if session.streamed else ()
    yield from (f"    {line}" for line in code.opening)
    if session.cancelled:
        yield f"    stops.append(lambda loop=asyncio.get_running_loop(): {code.cancel})"
    yield f"    for {', '.join(names)} in TURNS:"
    if len(turns) > 1:
        yield "        shown.clear(), runs.clear()"
    yield "        try:"
    yield from (f"            {line}" for line in code.turn)
    yield f"        except {'(Exception, asyncio.CancelledError)' if session.cancelled else 'Exception'} as error:"
    yield "            reply = error"
    held = f"[text for text in {code.held} if text]" if session.held else "None"
    yield f"    return reply, {held}"


def _show(turns: Sequence[FileTurn]) -> Iterator[str]:
    """What becomes of a piece of text."""
    if not any(isinstance(one.cancelled, int) for one in turns):
        yield "    show = shown.append"
        return
    yield "    def show(piece):"
    yield "        shown.append(piece)"
    yield "        if len(shown) == cancelled:"
    yield "            stops[-1]()"


def _run(turns: Sequence[FileTurn]) -> Iterator[str]:
    """What a tool does when it is called."""
    yield "    def run(name, arguments):"
    yield "        runs.append([name, arguments])"
    if any(isinstance(one.cancelled, tuple) for one in turns):
        yield "        if cancelled == ('tool', len(runs)):"
        yield "            stops[-1]()"
        yield '            raise RuntimeError("cancelled")'
    if not any(one.results for one in turns):
        yield '        return f"{name} is fine"'
        return
    fits = "tool == name"
    if any(when for one in turns for _, when, _ in one.results):
        fits += " and when.items() <= arguments.items()"
    found = f'next((result for tool, when, result in results if {fits}), f"{{name}} is fine")'
    if not is_failing(turns):
        yield f"        return {found}"
        return
    yield f"        result = {found}"
    yield "        if isinstance(result, Exception):"
    yield "            raise result"
    yield "        return result"


def _row(turn: FileTurn, names: Sequence[str], *, texts: bool) -> str:
    """What the file has of a turn, under these names."""
    fields = {"text": repr(turn.text), "results": _results(turn, texts=texts), "cancelled": repr(turn.cancelled)}
    return f"({', '.join(fields[name] for name in names)})" if len(names) > 1 else fields["text"]


def _results(turn: FileTurn, *, texts: bool) -> str:
    rows = (f"({name!r}, {when!r}, {_result(result, texts=texts)!r})" for name, when, result in turn.results)
    return f"[{', '.join(rows)}]"


def _result(result: Any, *, texts: bool) -> Any:
    if not texts or isinstance(result, str | Exception):
        return result
    return json.dumps(result, ensure_ascii=False)


def _look(question: SessionQuestion, number: int, base_path: str) -> Iterator[str]:
    """The lines that have the conversation and leave in `got` what is looked at."""
    url = f'f"http://127.0.0.1:{{server.server_port}}{base_path}"'
    if question.sight == "end":  # by no `wait_for`, whose cancel would end the turn
        yield "async def ended(url):"
        yield f"    done, _ = await asyncio.wait([asyncio.ensure_future(converse(url))], timeout={PATIENCE})"
        yield "    return bool(done)"
        yield f'got = "an end" if asyncio.run(ended({url})) else "no end within {PATIENCE} s"'
        return
    yield f"reply, held = asyncio.run(converse({url}))"
    match question.sight:
        case "request" | "header":
            yield "try:"
            header = question.sight == "header"
            place = f"requests[{number}].get({question.steps[0]!r})" if header else place_source(number, question.steps)
            yield f"    got = {place}"
            yield "except (LookupError, TypeError):"
            yield '    got = f"nothing (the turn: {reply!r})"'
        case "failed":
            yield "got = repr(reply)"
        case "silence":
            yield f'got = f"a client that left after the cancel: {{not silences[-1]}} (within {SILENCE} s)"'
        case _:
            yield f"got = {_LOOKED_AT[question.sight]}"


_LOOKED_AT = {
    "reply": "reply if isinstance(reply, str) else repr(reply)",
    "shown": "''.join(shown)",
    "held": "held",
    "shown-and-held": "[''.join(shown), held]",
    "runs": "sorted(runs, key=repr)",
}


def _predicate(question: SessionQuestion) -> str:
    match question.sight:
        case "failed":
            return f"type(reply).__name__ in {tuple(question.observed)!r}"
        case "silence":
            return "silences[-1]"
        case "end":
            return f'got == "no end within {PATIENCE} s"'
    return f"got == {question.observed!r}"
