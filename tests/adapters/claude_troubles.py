"""What goes wrong with Claude's program, alike for whatever drives it: a request refused, or a program that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof.errors import (
    AuthenticationError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    RateLimitError,
)


def write_program(folder: Path, source: str) -> str:
    """The path of an executable with this source in Python."""
    program = folder / "claude"
    program.write_text(f"#!/usr/bin/env python3\n{source}\n")
    program.chmod(0o755)
    return str(program)


refusals = pytest.mark.parametrize(
    ("status", "kind", "message", "error"),
    [
        (401, "authentication_error", "invalid x-api-key", AuthenticationError),
        (429, "rate_limit_error", "slow down", RateLimitError),
        (500, "api_error", "boom", OverloadedError),
        (529, "overloaded_error", "Overloaded", OverloadedError),
        (400, "invalid_request_error", "messages: something is wrong", InvalidRequestError),
        (400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum", ContextLimitError),
    ],
)
"""What the API answers, and the error that it is."""

strange_programs = pytest.mark.parametrize(
    ("source", "message"),
    [
        ("print('Hello! What can I do for you?')", "none of its protocol: Hello!"),
        ("import sys; sys.exit('no such flag')", "exit code 1.*no such flag"),
        ("pass", "exit code 0 in the middle"),
        ("import sys; sys.exit(4)", "exit code 4"),
        ('import sys; sys.stdout.write(\'{"type": "sys\'); sys.exit(4)', "exit code 4"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import time; time.sleep(60)", "has said nothing for 0.3 s"),
        ('for n in range(200_000): print(\'{"type": "chatter"}\')', "exit code 0"),
        ("for n in range(200_000): print('chatter')", "none of its protocol: chatter"),
        ('print(\'{"type": "assistant", "message": 3}\')', "none of its protocol"),
        ("import os, sys; sys.exit('the key is ' + os.environ['ANTHROPIC_API_KEY'])", r"the key is \*"),
    ],
    ids=[
        "greets",
        "refuses flags",
        "says nothing",
        "tells a code",
        "ends in the middle of a line",
        "is killed",
        "hangs",
        "chatters",
        "babbles",
        "writes another shape",
        "tells the key",
    ],
)
"""The program's source in Python, and what the error tells of it. One that sleeps is given 0.3 s."""
