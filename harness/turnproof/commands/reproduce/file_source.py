"""The file itself: the library, the server, the question and the sentence, in at most sixty lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..._base.counts import counted
from ..._base.printable import one_line
from ...reproducer import LibraryCode
from .found import UnreproducibleError
from .question import ERROR_FIELDS, Question
from .recorded_answers import End, RecordedAnswer

MOST_LINES = 60

_LONGEST_WORDS = 300


@dataclass(frozen=True)
class Layout:
    """What has lines of its own: each write of an answer, each idea (by blank lines), each message."""

    writes: bool
    ideas: bool
    messages: bool


_LAYOUTS = (
    Layout(writes=True, ideas=True, messages=True),
    Layout(writes=False, ideas=True, messages=True),
    Layout(writes=False, ideas=False, messages=True),
    Layout(writes=False, ideas=False, messages=False),
)


@dataclass(frozen=True)
class Story:
    """What people read of a finding: what is wrong, both sides, where it comes from, and what has to be installed."""

    library: str
    title: str
    expected: str
    origin: str
    requirements: Sequence[str]


def file_source(
    story: Story, question: Question, code: LibraryCode, answers: Sequence[RecordedAnswer], base_path: str
) -> str:
    """The source of the file, as spread out as fits. Raises UnreproducibleError where it takes too many lines."""
    for layout in _LAYOUTS:
        lines = list(_lines(story, question, code, answers, base_path, layout))
        lines = [line for line in lines if line or layout.ideas]
        if len(lines) <= MOST_LINES:
            return "\n".join(lines) + "\n"
    raise UnreproducibleError(
        f"the call of the library alone takes {counted(len(lines), 'line')}, more than {MOST_LINES}"
    )


def _lines(
    story: Story,
    question: Question,
    code: LibraryCode,
    answers: Sequence[RecordedAnswer],
    base_path: str,
    layout: Layout,
) -> Iterator[str]:
    yield f'"""{_in_docstring(f"{story.library}: {story.title}")}'
    yield ""
    yield _in_docstring(story.origin)
    yield 'Exits with 1 while it is so, with 0 when it is gone."""'
    yield "# /// script"
    yield f"# dependencies = [{', '.join(_quoted(one) for one in story.requirements)}]"
    yield "# ///"
    yield f"import asyncio, json, {'os, socket, struct, sys, time' if _has(answers, 'reset') else 'sys'}"
    yield "from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer"
    yield "from threading import Thread"
    yield from code.imports
    yield ""
    yield from _answers(answers, joined=not layout.writes)
    yield ""
    yield from _server(answers, heads=question.sight == "header")
    yield ""
    yield "async def ask(url):"
    if layout.messages and len(code.messages) > 1:
        yield "    messages = ["
        yield from (f"        {message}," for message in code.messages)
        yield "    ]"
    else:
        yield f"    messages = [{', '.join(code.messages)}]"
    yield from (f"    {line}" for line in code.body)
    yield ""
    yield 'server = ThreadingHTTPServer(("127.0.0.1", 0), Server)'
    yield "server.handle_error = lambda *words: None"
    yield "Thread(target=server.serve_forever, daemon=True).start()"
    yield from _look(question, base_path)
    yield f"defect = {_predicate(question)}"
    yield f"expected = {_words(story.expected)!r}"
    yield 'print(f"DEFECT: expected {expected}; got {got!r}" if defect else f"gone: got {got!r}")'
    yield "sys.exit(int(defect))"


def _in_docstring(text: str) -> str:
    return _words(text).replace("\\", "\\\\").replace('"', "'")


def _words(text: str) -> str:
    found = one_line(text)
    return found if len(found) <= _LONGEST_WORDS else f"{found[:_LONGEST_WORDS]}…"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _has(answers: Sequence[RecordedAnswer], end: End) -> bool:
    return any(one.end == end for one in answers)


def _answers(answers: Sequence[RecordedAnswer], *, joined: bool) -> Iterator[str]:
    """Each answer with status, headers, its end and its pieces: a line for each piece, or one for each answer."""
    yield "ANSWERS, requests = ["
    for one in answers:
        head = f"    ({one.status}, {one.headers!r}, {one.end!r}, ["
        if joined:
            yield f"{head}{', '.join(map(repr, one.pieces))}]),"
        else:
            yield head
            yield from (f"        {piece!r}," for piece in one.pieces)
            yield "    ]),"
    yield "], []"


def _server(answers: Sequence[RecordedAnswer], *, heads: bool) -> Iterator[str]:
    """A server that answers requests in their order, and any more with the last answer. It keeps their bodies, or their
    `heads`."""
    yield "class Server(BaseHTTPRequestHandler):"
    yield '    protocol_version = "HTTP/1.1"'
    yield "    log_message = lambda *words: None"
    methods = sorted({one.method for one in answers} | {"POST"})
    yield f"    def do_{methods[0]}(self):"
    body = 'json.loads(self.rfile.read(int(self.headers["content-length"])))'
    if methods != ["POST"]:
        body = 'json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or "null")'
    if heads:
        yield f"        {body}"
    yield f"        requests.append({'self.headers' if heads else body})"
    yield "        status, headers, end, pieces = ANSWERS[min(len(requests), len(ANSWERS)) - 1]"
    indent = "        "
    if any(one.end == "reset" and not one.pieces for one in answers):
        yield '        if pieces or end != "reset":'
        indent = "            "
    yield f"{indent}self.send_response(status)"
    yield f'{indent}for name, value in {{**headers, "transfer-encoding": "chunked"}}.items():'
    yield f"{indent}    self.send_header(name, value)"
    yield f"{indent}self.end_headers()"
    yield "        for piece in pieces:"
    yield '            self.wfile.write(b"%x\\r\\n%b\\r\\n" % (len(piece), piece))'
    if all(one.end == "end" for one in answers):
        yield '        self.wfile.write(b"0\\r\\n\\r\\n")'
    elif _has(answers, "end"):
        yield "        if end == 'end':"
        yield '            self.wfile.write(b"0\\r\\n\\r\\n")'
    if _has(answers, "stall"):
        yield "        if end == 'stall':"
        yield "            self.rfile.read(1)  # until the client leaves"
    if _has(answers, "reset"):
        yield "        if end == 'reset':"
        yield "            time.sleep(0.2)  # until the client has what was written"
        yield '            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))'
        yield "            os.close(self.connection.detach())"
    if any(one.end != "end" for one in answers):
        yield "        self.close_connection = end != 'end'"
    yield from (f"    do_{method} = do_{methods[0]}" for method in methods[1:])


def _look(question: Question, base_path: str) -> Iterator[str]:
    """The lines that make the call and leave in `got` what is looked at."""
    call = f'asyncio.run(ask(f"http://127.0.0.1:{{server.server_port}}{base_path}"))'
    yield "try:"
    match question.sight:
        case "request" | "header" | "requests":
            yield f"    came = {call}"
            yield "except Exception as error:"
            yield "    came = error"
            yield from _look_at_requests(question)
        case "answer" | "returned":
            yield f"    answer = {call}"
            yield f"    got = {_answer_expression(question.steps)}"
            yield "except Exception as error:"
            yield '    got = f"the exception {type(error).__name__}: {error}"'
        case "raised":
            yield f"    got, raised = {call}, None"
            yield "except Exception as error:"
            yield "    got, raised = repr(error), type(error).__name__"
        case "error":
            yield f"    got = 'the answer ' + repr({call})"
            yield "except Exception as error:"
            yield f"    got = {_error_expression(str(question.steps[0]))}"


def _error_expression(name: str) -> str:
    if name == "error":
        return "type(error).__name__"
    if name == "words":
        return "str(error)"
    if name == "fields":
        return f"[type(error).__name__, *[getattr(error, name, None) for name in {ERROR_FIELDS!r}]]"
    return f"getattr(error, {name!r}, None)"


def _look_at_requests(question: Question) -> Iterator[str]:
    if question.sight == "requests":
        yield "got = len(requests)"
        return
    yield "try:"
    if question.sight == "header":
        yield f"    got = requests[{question.request}].get({question.steps[0]!r})"
    elif question.others:
        places = [(question.request, question.steps), *question.others]
        yield f"    got = [{', '.join(_place(number, steps) for number, steps in places)}]"
    else:
        yield f"    got = {_place(question.request, question.steps)}"
    yield "except (LookupError, TypeError):"
    yield '    got = f"nothing (the call: {came!r})"'


def _place(number: int, steps: Sequence[Any]) -> str:
    return f"requests[{number}]{''.join(f'[{step!r}]' for step in steps)}"


def _answer_expression(steps: Sequence[Any]) -> str:
    member = f"answer{''.join(f'[{step!r}]' for step in steps)}"
    return f'"".join({member})' if steps == ("chunks",) else member


def _predicate(question: Question) -> str:
    if question.sight == "raised":
        return f"raised in {tuple(question.observed)!r}"
    return f"got == {question.observed!r}"
