"""The file itself: the library, the server, the question and the sentence, in at most sixty lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..._base.counts import counted
from ..._base.printable import one_line
from ...reproducer import LibraryCode
from .places import ERROR_FIELDS
from .question import Question
from .recorded_answers import End, RecordedAnswer
from .run_findings import UnreproducibleError

MOST_LINES = 60

_LONGEST_WORDS = 300

_COMPOUND = ("async ", "case ", "class ", "def ", "for ", "if ", "match ", "try:", "while ", "with ")

_CAPTURE = (
    "printed, kept = tempfile.TemporaryFile(), os.dup(1)",
    "os.dup2(printed.fileno(), 1)  # what the library prints, also where it keeps the standard output of its import",
)
"""Lines that keep what goes to standard output, whoever holds it."""

SILENCE = 3
"""Seconds that a server waits after a cancel for the client to leave."""


@dataclass(frozen=True)
class Layout:
    """What has lines of its own: each write of an answer, each idea (by blank lines), each message, each answer, and
    each body of one statement."""

    writes: bool
    ideas: bool
    messages: bool
    answers: bool = True
    bodies: bool = True


_LAYOUTS = (
    Layout(writes=True, ideas=True, messages=True),
    Layout(writes=False, ideas=True, messages=True),
    Layout(writes=False, ideas=False, messages=True),
    Layout(writes=False, ideas=False, messages=False),
    Layout(writes=False, ideas=False, messages=False, answers=False),
    Layout(writes=False, ideas=False, messages=False, answers=False, bodies=False),
)


@dataclass(frozen=True)
class FindingSummary:
    """What people read of a finding: what is wrong, both sides, where it comes from, and what has to be installed."""

    library: str
    title: str
    expected: str
    origin: str
    requirements: Sequence[str]


@dataclass(frozen=True)
class Program:
    """What a file does with its server. `imports` are what it needs beside the standard library, `body` are the
    definitions that ask the library, and `look` the lines behind the server's start that leave in `got` what is
    looked at. `predicate` says whether that is the defect. `heads` says that the server keeps headers, not bodies,
    `again` that it answers any more requests with the last answer, where it otherwise breaks off. `stops` says that the
    server cancels what it holds the answer of, `first` are lines ahead of the library's import."""

    imports: Sequence[str]
    body: Callable[[Layout], Iterator[str]]
    look: Sequence[str]
    predicate: str
    heads: bool = False
    again: bool = True
    stops: bool = True
    first: Sequence[str] = ()


def file_source(
    summary: FindingSummary, question: Question, code: LibraryCode, answers: Sequence[RecordedAnswer], base_path: str
) -> str:
    """The source of the file that makes a call. Raises UnreproducibleError where it takes too many lines."""
    stays_open = question.sight == "loops" or (question.sight == "left-open" and bool(code.opening))
    program = Program(
        code.imports,
        lambda layout: _call(code, layout, stays_open=stays_open),
        list(_look(question, base_path, stays_open=stays_open)),
        _predicate(question),
        heads=question.sight == "header",
        stops=False,
        first=_CAPTURE if question.sight == "printed" else (),
    )
    return program_source(summary, program, answers)


def program_source(summary: FindingSummary, program: Program, answers: Sequence[RecordedAnswer]) -> str:
    """The source of the file, as spread out as fits. Raises UnreproducibleError where it takes too many lines."""
    for layout in _LAYOUTS:
        lines = list(_lines(summary, program, answers, layout))
        lines = [line for line in lines if line or layout.ideas]
        lines = lines if layout.bodies else list(_with_bodies(lines))
        if len(lines) <= MOST_LINES:
            return "\n".join(lines) + "\n"
    raise UnreproducibleError(
        f"the call of the library alone takes {counted(len(lines), 'line')}, more than {MOST_LINES}"
    )


def _lines(
    summary: FindingSummary, program: Program, answers: Sequence[RecordedAnswer], layout: Layout
) -> Iterator[str]:
    yield f'"""{_in_docstring(f"{summary.library}: {summary.title}")}'
    yield ""
    yield _in_docstring(summary.origin)
    yield 'Exits with 1 while it is so, with 0 when it is gone."""'
    yield "# /// script"
    yield f"# dependencies = [{', '.join(_quoted(one) for one in summary.requirements)}]"
    yield "# ///"
    modules = {"asyncio", "http.server", "json", "sys", "threading", *_modules(answers, stops=program.stops)}
    modules |= {"os", "tempfile"} if program.first else set()
    modules |= {"re"} if "re.search(" in program.predicate else set()
    yield f"import {', '.join(sorted(modules))}"
    yield from program.first
    yield from program.imports
    yield ""
    lines = list(_answers(answers, joined=not layout.writes))
    yield from lines if layout.answers else ["".join(line.strip() for line in lines)]
    yield ""
    yield from _server(answers, heads=program.heads, again=program.again, stops=program.stops)
    if not program.stops and any(one.is_held for one in answers):
        yield "silences = []"
    yield ""
    yield from program.body(layout)
    yield ""
    yield 'server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)'
    yield "server.handle_error = lambda *words: None"
    yield "threading.Thread(target=server.serve_forever, daemon=True).start()"
    yield from program.look
    yield f"expected, defect = {_words(summary.expected)!r}, {program.predicate}"
    yield 'print(f"DEFECT: expected {expected}; got {got!r}" if defect else f"gone: got {got!r}")'
    yield "sys.exit(int(defect))"


def _with_bodies(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with each body that is one simple statement behind what opens it."""
    depths = [len(line) - len(line.lstrip()) for line in (*lines, "")]
    is_written = False
    for number, line in enumerate(lines):
        if is_written:
            is_written = False
            continue
        body = lines[number + 1].strip() if number + 1 < len(lines) else ""
        opens = line.endswith(":") and not line.lstrip().startswith(("class ", "#"))
        is_alone = opens and depths[number + 1] > depths[number] >= depths[number + 2]
        is_written = is_alone and not body.endswith(":") and not body.startswith(_COMPOUND)
        yield f"{line} {body}" if is_written else line


def _call(code: LibraryCode, layout: Layout, *, stays_open: bool) -> Iterator[str]:
    """The function that makes the call; where the library stays open behind it, an inner one of what opens it."""
    if not stays_open:
        yield "async def ask(url):"
        yield from (f"    {line}" for line in (*_messages(code, layout), *code.opening, *code.body))
        return
    yield "def opened(url):"
    yield from (f"    {line}" for line in code.opening)
    yield "    async def ask():"
    yield from (f"        {line}" for line in (*_messages(code, layout), *code.body))
    yield "    return ask"


def _messages(code: LibraryCode, layout: Layout) -> Iterator[str]:
    if layout.messages and len(code.messages) > 1:
        yield "messages = ["
        yield from (f"    {message}," for message in code.messages)
        yield "]"
    else:
        yield f"messages = [{', '.join(code.messages)}]"


def _modules(answers: Sequence[RecordedAnswer], *, stops: bool = True) -> Iterator[str]:
    """The modules of the standard library that the server needs for these answers."""
    if _has(answers, "reset"):
        yield from ("os", "socket", "struct", "time")
    if any(one.is_held for one in answers):
        yield from ("select", *(["time"] if stops else []))


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
    """Each answer with status, headers, its end and its pieces: a line for each piece, or one for each answer.

    Of a whole answer the last piece is empty: it ends the transfer coding.
    """
    yield "ANSWERS, requests = ["
    for one in answers:
        head = f"    ({one.status}, {one.headers!r}, {one.end!r}, ["
        pieces = (*one.pieces, b"") if one.end == "end" else one.pieces
        if joined:
            yield f"{head}{', '.join(map(repr, pieces))}]),"
        else:
            yield head
            yield from (f"        {piece!r}," for piece in pieces)
            yield "    ]),"
    yield "], []"


def _server(answers: Sequence[RecordedAnswer], *, heads: bool, again: bool = True, stops: bool = True) -> Iterator[str]:
    """A server that answers requests in their order, and `again` with the last answer. It keeps their bodies, or their
    `heads`. Where it holds an answer it notes whether the client left, and cancels the turn first if it `stops` any."""
    yield "class Server(http.server.BaseHTTPRequestHandler):"
    yield '    protocol_version, log_message = "HTTP/1.1", lambda *words: None'
    methods = sorted({one.method for one in answers} | {"POST"})
    yield f"    def do_{methods[0]}(self):"
    body = 'json.loads(self.rfile.read(int(self.headers["content-length"])))'
    if methods != ["POST"]:
        body = 'json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or "null")'
    if heads:
        yield f"        {body}"
    yield f"        requests.append({'self.headers' if heads else body})"
    number = "min(len(requests), len(ANSWERS))" if again else "len(requests)"
    yield f"        status, headers, end, pieces = ANSWERS[{number} - 1]"
    if any(one.is_held and one.pieces[0] is None for one in answers):
        yield "        if pieces[0] is None:"
        yield "            self.hold()"
        yield "            pieces = pieces[1:]"
    indent = "        "
    if any(one.end == "reset" and not one.pieces for one in answers):
        yield '        if pieces or end != "reset":'
        indent = "            "
    yield f"{indent}self.send_response(status)"
    yield f'{indent}for name, value in {{**headers, "transfer-encoding": "chunked"}}.items():'
    yield f"{indent}    self.send_header(name, value)"
    yield f"{indent}self.end_headers()"
    yield "        for piece in pieces:  # an empty one ends the answer"
    held = any(None in one.pieces[1:] for one in answers)
    otherwise = " if piece is not None else self.hold()" if held else ""
    yield f'            self.wfile.write(b"%x\\r\\n%b\\r\\n" % (len(piece), piece)){otherwise}'
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
    if any(one.is_held for one in answers):
        yield "    def hold(self):"
        if stops:
            yield "        time.sleep(0.3)  # the client has read what was written by then"
            yield "        stops[-1]()"
        yield f"        silences.append(not select.select([self.connection], [], [], {SILENCE})[0])"
    yield from (f"    do_{method} = do_{methods[0]}" for method in methods[1:])


def _look(question: Question, base_path: str, *, stays_open: bool) -> Iterator[str]:
    """The lines that make the call and leave in `got` what is looked at."""
    url = f'f"http://127.0.0.1:{{server.server_port}}{base_path}"'
    call = f"asyncio.run(ask({url}))"
    if question.sight == "left-open":
        yield "async def left(url):"
        if stays_open:
            yield "    ask = opened(url)  # the client lives on, so that only the call can close the connection"
        yield f"    await ask({'' if stays_open else 'url'})"
        yield "    returned = not silences  # while the server was silent"
        yield "    while not silences:"
        yield "        await asyncio.sleep(0.1)"
        yield "    return returned"
        yield f"returned = asyncio.run(left({url}))"
        yield f'got = f"a connection that the client closed: {{not silences[-1]}} (within {SILENCE} s)"'
        return
    if question.sight == "loops":
        yield f"ask = opened({url})"
        yield "asyncio.run(ask())  # in one event loop, and then in another"
        call = "asyncio.run(ask())"
    yield "try:"
    match question.sight:
        case "request" | "header" | "requests":
            yield f"    came = {call}"
            yield "except Exception as error:"
            yield "    came = error"
            yield from _look_at_requests(question)
        case "answer" | "returned" | "unnamed":
            yield f"    answer = {call}"
            yield f"    got = {_answer_expression(question.steps)}"
            yield "except Exception as error:"
            yield '    got = f"the exception {type(error).__name__}: {error}"'
        case "raised" | "loops":
            yield f"    got, raised = {call}, None"
            yield "except Exception as error:"
            yield "    got, raised = repr(error), type(error).__name__"
        case "printed":
            yield f"    {call}"
            yield "except Exception:"
            yield "    pass  # the call may fail: what it prints is looked at"
            yield "sys.stdout.flush(), os.dup2(kept, 1), printed.seek(0)"
            yield 'got = printed.read().decode(errors="replace").strip()'
        case "unheld":
            yield f"    got, held = {call}, None"
            yield "except Exception as error:"
            yield "    got, chain = repr(error), [error]"
            yield "    for one in chain:  # and what it came from, as a traceback shows it"
            yield "        below = one.__cause__ if one.__suppress_context__ else one.__context__"
            yield "        chain += [below] if below not in (None, *chain) else []"
            yield "    answers = [getattr(one, 'response', one) for one in chain]"
            yield "    headers = [dict(getattr(one, 'headers', None) or {}) for one in answers]"
            yield "    held = f'{[(str(one), vars(one)) for one in chain]} {headers}'"
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
        yield f"    got = [{', '.join(place_source(number, steps) for number, steps in places)}]"
    else:
        yield f"    got = {place_source(question.request, question.steps)}"
    yield "except (LookupError, TypeError):"
    yield '    got = f"nothing (the call: {came!r})"'


def place_source(number: int, steps: Sequence[Any]) -> str:
    """A place of a request of the file, by its number, as source."""
    return f"requests[{number}]{''.join(f'[{step!r}]' for step in steps)}"


def _answer_expression(steps: Sequence[Any]) -> str:
    member = f"answer{''.join(f'[{step!r}]' for step in steps)}"
    return f'"".join({member})' if steps == ("chunks",) else member


def _predicate(question: Question) -> str:
    if question.sight == "unnamed":
        return f"{question.observed!r} not in got and not got.startswith('the exception ')"
    if question.sight == "left-open":
        return "returned and silences[-1]"
    if question.sight == "printed":
        return "got != ''"
    if question.sight == "unheld":
        return f"held is not None and not re.search({question.observed!r}, held)"
    if question.sight in ("raised", "loops"):
        unsent = f" and len(requests) == {question.request}" if question.before_requests else ""
        return f"raised in {tuple(question.observed)!r}{unsent}"
    return f"got == {question.observed!r}"
