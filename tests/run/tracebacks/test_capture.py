"""From an exception to data: whatever it is made of, it is told as well as it can be, within bounds."""

from __future__ import annotations

import base64
import json
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from turnproof.run.tracebacks import Owners, Raised, capture
from turnproof.run.tracebacks.capture import DEPTH, EXCEPTIONS, FIRST_FRAMES, LAST_FRAMES, MESSAGE, NOTES, SOURCE

KEY = "sk-live/0123+456789abcdef"
OWN = Owners([__name__])


def raised_by(action: Callable[[], object], *secrets: str) -> Raised:
    """What was captured of it; it can be written and read again."""
    with pytest.raises(BaseException) as failure:
        action()
    found = capture(failure.value, OWN, secrets)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Raised) == found
    return found


def fails() -> None:
    raise ValueError("no number")


def test_an_exception_has_its_type_its_words_and_the_line_that_raised_it() -> None:
    found = raised_by(fails)
    assert (found.type, found.module, found.message, found.title) == (
        "ValueError",
        "builtins",
        "no number",
        "ValueError: no number",
    )
    last = found.frames[-1]
    assert (last.function, last.source, last.owner) == ("fails", 'raise ValueError("no number")', "subject")
    assert last.file == "tests/run/tracebacks/test_capture.py"
    assert last.line == fails.__code__.co_firstlineno + 1


def test_the_own_frame_is_the_deepest_one_and_not_that_of_a_library() -> None:
    def reads() -> None:
        json.loads("{")

    found = raised_by(reads)
    assert found.name == "json.decoder.JSONDecodeError"
    assert [frame.owner for frame in found.frames[-2:]] == ["library", "library"]
    assert found.own_frame is not None
    assert found.own_frame.function.endswith("reads")
    assert found.own_frame.source == 'json.loads("{")'


def test_where_the_outermost_has_no_own_frame_it_is_that_of_its_cause() -> None:
    def chained() -> None:
        error = LookupError("never raised")
        try:
            fails()
        except ValueError as cause:
            error.__cause__ = cause
        raise error

    with pytest.raises(LookupError) as failure:
        chained()
    found = capture(failure.value.with_traceback(None), OWN)
    assert found.frames == ()
    assert found.own_frame is not None
    assert found.own_frame.function == "fails"


def test_an_exception_that_nobody_raised_has_no_frame() -> None:
    found = capture(ValueError("returned"), OWN)
    assert (found.frames, found.own_frame) == ((), None)


def test_causes_and_contexts_are_told_as_python_tells_them() -> None:
    def caused() -> None:
        try:
            fails()
        except ValueError as error:
            raise KeyError("a") from error

    def in_context() -> None:
        try:
            fails()
        except ValueError:
            raise KeyError("a")  # noqa: B904 (what is tested)

    def hidden() -> None:
        try:
            fails()
        except ValueError:
            raise KeyError("a") from None

    found = raised_by(caused)
    assert found.cause is not None
    assert (found.cause.type, found.context, found.suppressed) == ("ValueError", None, False)
    found = raised_by(in_context)
    assert found.context is not None
    assert (found.context.type, found.cause, found.suppressed) == ("ValueError", None, False)
    found = raised_by(hidden)
    assert (found.context, found.cause, found.suppressed) == (None, None, True)


def test_members_of_groups_are_told_each_with_its_frames() -> None:
    def grouped() -> None:
        members: list[Exception] = []
        for action in (fails, lambda: json.loads("[")):
            try:
                action()
            except ValueError as error:
                members.append(error)
        raise ExceptionGroup("two failed", [members[0], ExceptionGroup("inner", [members[1]])])

    found = raised_by(grouped)
    assert found.message == "two failed (2 sub-exceptions)"
    assert [one.type for one in found.every()] == ["ExceptionGroup", "ValueError", "ExceptionGroup", "JSONDecodeError"]
    assert found.exceptions[0].frames[-1].function == "fails"


def chain_to_itself() -> BaseException:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    return first


def group_in_itself() -> BaseException:
    inner = ValueError("inner")
    inner.__cause__ = group = ExceptionGroup("outer", [inner])
    return group


def long_chain() -> BaseException:
    error = ValueError("0")
    for number in range(1, 5000):
        after = ValueError(str(number))
        after.__context__, error = error, after
    return error


def wide_group() -> BaseException:
    return ExceptionGroup("many", [ValueError(str(number)) for number in range(10_000)])


def group_of_groups() -> BaseException:
    error: Exception = ValueError("leaf")
    for _ in range(40):
        error = ExceptionGroup("both", [error, error])
    return error


@pytest.mark.parametrize("make_error", [chain_to_itself, group_in_itself, long_chain, wide_group, group_of_groups])
def test_what_leads_back_to_itself_or_is_too_much_is_cut_and_counted(make_error: Callable[[], BaseException]) -> None:
    found = capture(make_error(), OWN)
    every = list(found.every())
    assert len(every) <= EXCEPTIONS
    assert sum(one.exceptions_omitted for one in every) > 0
    assert len(msgspec.json.encode(found)) < 20_000

    def depth(one: Raised) -> int:
        return 1 + max((depth(inner) for inner in (one.cause, one.context, *one.exceptions) if inner), default=0)

    assert depth(found) <= DEPTH


def test_of_a_recursion_both_ends_are_kept_and_the_rest_is_counted() -> None:
    def deeper(level: int) -> None:
        deeper(level + 1)

    found = raised_by(lambda: deeper(0))
    assert found.type == "RecursionError"
    assert len(found.frames) == FIRST_FRAMES + LAST_FRAMES
    assert found.omitted_at == FIRST_FRAMES
    assert found.frames_omitted > sys.getrecursionlimit() // 2
    assert found.own_frame is not None
    assert found.own_frame.function.endswith("deeper")


def test_a_traceback_that_just_fits_is_whole() -> None:
    def deeper(level: int) -> None:
        if level == 0:
            raise ValueError
        deeper(level - 1)

    def from_level(level: int) -> Callable[[], None]:
        return lambda: deeper(level)

    fits = FIRST_FRAMES + LAST_FRAMES
    # Two frames stand above `deeper`: that of `raised_by` and of the function it is given.
    whole, cut = (raised_by(from_level(level)) for level in (fits - 3, fits - 2))
    assert (len(whole.frames), whole.frames_omitted, whole.omitted_at) == (fits, 0, 0)
    assert (len(cut.frames), cut.frames_omitted, cut.omitted_at) == (fits, 1, FIRST_FRAMES)


# -- what an exception may be ----------------------------------------------------------------------------------


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Leaving(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Numeric(Exception):
    def __str__(self) -> str:
        return 5  # type: ignore[return-value]


class Odd(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Tagged(Exception):
    def __str__(self) -> str:
        return Odd("tagged")


class Endless(Exception):
    def __str__(self) -> str:
        return str(self)


class Moody(Exception):
    __notes__ = 5  # type: ignore[assignment]

    @property
    def __cause__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no cause")

    @property
    def __traceback__(self) -> Any:  # type: ignore[override]
        return "a traceback"


class Bare(Exception):
    __module__ = 5  # type: ignore[assignment]


@dataclass(frozen=True)
class Words:
    id: str
    error: BaseException
    message: str


WORDS = [
    Words("its text raises", Silent(), "(its text cannot be had: RuntimeError)"),
    Words("its text ends the program", Leaving(), "(its text cannot be had: SystemExit)"),
    Words("its text is a number", Numeric(), "(its text cannot be had: TypeError)"),
    Words("its text is of a class of its own", Tagged(), "tagged"),
    Words("its text never ends", Endless(), "(its text cannot be had: RecursionError)"),
    Words("its attributes are of other types", Moody("odd"), "odd"),
    Words("its module is no name", Bare("bare"), "bare"),
    Words("it has no words", ValueError(), ""),
    Words("half a surrogate pair", ValueError("\ud83d"), "\ud83d"),
    Words("controls", ValueError("\x1b[31m\x00"), "\x1b[31m\x00"),
]


@pytest.mark.parametrize("case", WORDS, ids=attrgetter("id"))
def test_whatever_an_exception_says_of_itself_it_is_told(case: Words) -> None:
    found = capture(case.error, OWN)
    assert found.message == case.message
    assert type(found.message) is str


def test_notes_are_kept_and_those_without_text_are_named() -> None:
    error = ValueError("a")
    error.add_note("turn 3")
    error.__notes__ += [5, Silent()]  # type: ignore[list-item]
    assert capture(error).notes == ("turn 3", "5", "(its text cannot be had: RuntimeError)")
    error.__notes__ += ["more"] * 1000
    assert len(capture(error).notes) == NOTES + 1


def test_a_huge_message_is_cut_and_says_so() -> None:
    found = capture(ValueError("x" * 50_000_000))
    assert len(found.message) < MESSAGE + 50
    assert found.message.endswith(f"... ({50_000_000 - MESSAGE} more characters)")


# -- source that cannot be had ---------------------------------------------------------------------------------


def run(source: str, file: str, **names: Any) -> Callable[[], object]:
    return lambda: exec(compile(source, file, "exec"), names)


@dataclass(frozen=True)
class Sourceless:
    id: str
    action: Callable[[], object]
    file: str
    source: str = ""


class Loader:
    def get_source(self, name: str) -> str:
        raise RuntimeError("no source")


SOURCELESS = [
    Sourceless("executed text", run("1 / 0", "<string>"), "<string>"),
    Sourceless("a console", run("(lambda: 1 / 0)()", "<stdin>", __name__="__main__"), "<stdin>"),
    Sourceless("a file that is gone", run("1 / 0", "/nowhere/at/all.py", __name__="all"), "all.py"),
    Sourceless("compiled elsewhere", run("1 / 0", r"C:\Users\ada\all.py", __name__="all"), "all.py"),
    Sourceless("no file", run("1 / 0", ""), ""),
    Sourceless("a loader that fails", run("1 / 0", "/nowhere/b.py", __name__="b", __loader__=Loader()), "b.py"),
    Sourceless("names that are no names", run("1 / 0", "<x>", __name__=5, __file__=b"5"), "<x>"),
]


@pytest.mark.parametrize("case", SOURCELESS, ids=attrgetter("id"))
def test_a_frame_without_source_has_what_is_known(case: Sourceless) -> None:
    last = raised_by(case.action).frames[-1]
    assert (last.file, last.line, last.source, last.root) == (case.file, 1, "", "none")


def test_frozen_modules_are_the_librarys() -> None:
    found = raised_by(lambda: import_module("no_such_module_anywhere"))
    assert found.frames[-1].owner == "library"
    assert found.frames[-1].file.startswith("<frozen importlib")


def test_an_instruction_without_a_line_is_told_without_one() -> None:
    code = compile("1 / 0", "<string>", "exec").replace(co_linetable=b"")
    last = raised_by(lambda: exec(code)).frames[-1]
    assert last.location == ("<string>" if last.line == 0 else f"<string>:{last.line}")


def test_of_a_line_of_megabytes_the_part_that_failed_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "wide.py"
    file.write_text(f"    \nx = [{'0, ' * 700_000}1 / 0, {'0, ' * 700_000}]\n")
    last = raised_by(run(file.read_text(), str(file))).frames[-1]
    linecache.clearcache()
    assert "1 / 0" in last.source
    assert len(last.source) < SOURCE + 60


def test_a_source_file_that_is_no_text_gives_no_line(tmp_path: Path) -> None:
    file = tmp_path / "bytes.py"
    file.write_bytes(b"\xff\xfe\x00")
    assert raised_by(run("1 / 0", str(file))).frames[-1].source == ""


def test_a_syntax_error_ends_at_the_line_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("a = 1\nb = = 2\n")
    found = raised_by(lambda: compile(file.read_text(), str(file), "exec"))
    last = found.frames[-1]
    assert (last.file, last.line, last.source, last.owner) == ("broken.py", 2, "b = = 2", "subject")


def test_a_syntax_error_with_anything_in_its_fields_is_told() -> None:
    error = SyntaxError("odd")
    error.filename, error.lineno, error.text = 5, "x", b"y"  # type: ignore[assignment]
    assert capture(error).frames == ()
    error.filename = "a\0b"
    assert capture(error).frames[-1].line == 0


# -- secrets ---------------------------------------------------------------------------------------------------

FORMS = {
    "plain": KEY,
    "quoted": quote(KEY, safe=""),
    "json": json.dumps({"key": KEY}),
    "hex": KEY.encode().hex(),
    **{
        f"base64 at {shift}": base64.b64encode(b"user:"[:shift] + KEY.encode() + b":more").decode()
        for shift in range(3)
    },
    "url-safe base64": base64.urlsafe_b64encode(KEY.encode()).decode(),
}


def parts_of_the_key(found: Raised) -> Iterator[str]:
    """Stretches of any form of the key that can still be read."""
    text = msgspec.json.encode(found).decode()
    for form in FORMS.values():
        yield from (form[at : at + 12] for at in range(len(form) - 12) if form[at : at + 12] in text)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_of_a_secret_is_kept_in_words_or_notes(form: str) -> None:
    error, cause = ValueError(f"POST failed with {form}"), KeyError(form)
    error.add_note(f"authorization: {form}")
    error.__cause__ = cause
    found = capture(error, OWN, [KEY])
    assert list(parts_of_the_key(found)) == []
    assert "[key]" in found.message
    assert "[key]" in found.notes[0]
    assert found.cause is not None
    assert "[key]" in found.cause.message


def test_no_secret_is_kept_in_source_lines_names_and_files(tmp_path: Path) -> None:
    file = tmp_path / f"{KEY.replace('/', '-')}.py"
    file.write_text(f"send('{KEY}')\n")

    def send(value: str) -> None:
        raise type(KEY, (Exception,), {"__module__": KEY})(value)

    found = raised_by(run(file.read_text(), str(file), send=send, __name__=KEY), KEY, KEY.replace("/", "-"))
    assert list(parts_of_the_key(found)) == []
    assert [frame.source for frame in found.frames if "send('" in frame.source] == ["send('[key]')"]


@pytest.mark.parametrize("at", [*range(MESSAGE - len(KEY) - 1, MESSAGE + 2, 3), MESSAGE - 1])
def test_a_secret_on_the_edge_of_what_is_kept_is_not_kept_in_part(at: int) -> None:
    found = capture(ValueError("x" * at + KEY + "y" * 5000), OWN, [KEY])
    assert KEY[:4] not in found.message


def test_a_short_secret_is_everywhere_and_not_looked_for() -> None:
    assert capture(ValueError("a key"), OWN, ["key", ""]).message == "a key"


def test_modules_may_hold_anything() -> None:
    module = types.ModuleType("odd")
    exec("def fail(): raise ValueError('odd')", module.__dict__)
    assert raised_by(module.fail).frames[-1].module == "odd"


class Unhashable(str):
    """A text that cannot be looked up anywhere."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("looked up")


def test_a_name_that_cannot_be_hashed_is_captured_as_it_is() -> None:
    kind = type("Failed", (Exception,), {"__module__": Unhashable("own.module")})
    assert capture(kind("went wrong")).module == "own.module"


def test_a_key_in_a_short_text_is_masked_by_the_secrets_of_each_run() -> None:
    error = ValueError("with key-of-one-run")
    assert capture(error, secrets=("key-of-one-run",)).message == "with [key]"
    assert capture(error, secrets=("key-of-another",)).message == "with key-of-one-run"
    assert capture(error, secrets=("key-of-one-run",)).message == "with [key]"
