"""An exception as text, in the form of Python's own tracebacks."""

from __future__ import annotations

import msgspec

from turnproof.run.tracebacks import Frame, Raised, format_frame, format_raised

OURS = Frame(file="turnproof/run/driver/tap.py", line=70, function="Tap._run", owner="turnproof", source="action()")
SUBJECT = Frame(file="mine.py", line=12, function="Mine.complete", owner="subject", source="self.client.send(body)")
SDK = Frame(
    file="httpx2/_client.py", line=901, function="Client.send", owner="sdk", source="hook(it)", root="site-packages"
)
PYTHON = Frame(file="json/__init__.py", line=5, function="loads", owner="library", root="stdlib")
ERROR = Raised(type="Broken", module="mine", message="no JSON", frames=(OURS, OURS, SUBJECT, SDK, PYTHON))


def test_a_traceback_reads_like_pythons_with_the_owner_of_what_is_not_the_subjects() -> None:
    assert (
        format_raised(ERROR)
        == """\
Traceback (most recent call last):
  ... 2 frames of turnproof ...
  File "mine.py", line 12, in Mine.complete
    self.client.send(body)
  File "site-packages/httpx2/_client.py", line 901, in Client.send  [sdk]
    hook(it)
  File "stdlib/json/__init__.py", line 5, in loads  [library]
mine.Broken: no JSON"""
    )


def test_frames_of_turnproof_can_be_shown_too() -> None:
    text = format_raised(ERROR, fold=False)
    assert text.count('  File "turnproof/run/driver/tap.py", line 70, in Tap._run  [turnproof]\n    action()\n') == 2


def test_what_is_behind_an_exception_comes_before_it() -> None:
    cause, context = (Raised(type="ValueError", module="builtins", message=name) for name in ("cause", "context"))
    text = format_raised(Raised(type="Outer", module="mine", cause=msgspec.structs.replace(cause, context=context)))
    assert text.split("\n\n") == [
        "ValueError: context",
        "During handling of the above exception, another exception occurred:",
        "ValueError: cause",
        "The above exception was the direct cause of the following exception:",
        "mine.Outer",
    ]


def test_members_notes_and_what_was_left_out_are_told() -> None:
    member = Raised(type="ValueError", module="builtins", message="two\nlines", frames=(SUBJECT,))
    frames = (SUBJECT, msgspec.structs.replace(SUBJECT, line=13))
    group = Raised(
        type="ExceptionGroup",
        module="builtins",
        message="both",
        notes=("in turn 3",),
        frames=frames,
        frames_omitted=900,
        omitted_at=1,
        exceptions=(member, member),
        exceptions_omitted=4,
    )
    assert (
        format_raised(group)
        == """\
Traceback (most recent call last):
  File "mine.py", line 12, in Mine.complete
    self.client.send(body)
  ... 900 more frames ...
  File "mine.py", line 13, in Mine.complete
    self.client.send(body)
ExceptionGroup: both
in turn 3
  | member 1:
  | Traceback (most recent call last):
  |   File "mine.py", line 12, in Mine.complete
  |     self.client.send(body)
  | ValueError: two
  | lines
  | member 2:
  | Traceback (most recent call last):
  |   File "mine.py", line 12, in Mine.complete
  |     self.client.send(body)
  | ValueError: two
  | lines
(4 more exceptions behind it are left out)"""
    )


def test_a_frame_is_one_line_that_an_editor_can_follow() -> None:
    assert format_frame(SUBJECT) == "mine.py:12 in Mine.complete: self.client.send(body)"
    assert format_frame(PYTHON) == "stdlib/json/__init__.py:5 in loads"
    assert format_frame(Frame(file="<string>", line=0, function="<module>", owner="library", root="none")) == (
        "<string> in <module>"
    )
    assert (SUBJECT.location, SUBJECT.in_project, SDK.in_project) == ("mine.py:12", True, False)


def test_nothing_in_an_exception_can_steer_a_terminal() -> None:
    odd = Raised(type="Odd", module="mine", message="\x1b[31mred", notes=("\x00",), frames=(SUBJECT,))
    assert "\x1b" not in format_raised(odd)
    assert "\x00" not in format_raised(odd)
    assert "\x1b" not in format_frame(msgspec.structs.replace(SUBJECT, source="'\x1b[0m'"))
