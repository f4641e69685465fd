"""`turnproof inventory`: the table, the JSON form by its schema, exit codes and refusals."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from importlib.resources import files

import jsonschema
import pytest

from turnproof.commands.cli import main
from turnproof.commands.inventory import print_inventory

from .kit import Take

SCHEMA = json.loads((files("turnproof.commands.inventory") / "inventory.schema.json").read_text())

KEEPS = """
    class Provider:
        def create_session(self, system=None, tools=None, history=None):
            self._history = list(history or ())

        def send_message(self, message):
            self._history.append(message)
"""

CLEAN = """
    class Provider:
        def complete(self, messages):
            return post(messages)
"""

UNSEEN = """
    class Provider:
        def complete(self, messages, name):
            return getattr(self, name)(messages)
"""


@pytest.mark.parametrize(
    ("source", "code", "says"),
    [
        (KEEPS, 1, "something is left in Provider"),
        (CLEAN, 0, "nothing is left"),
        (UNSEEN, 3, "nothing was found, but not all can be seen in Provider"),
    ],
    ids=["left", "nothing-left", "cannot-be-seen"],
)
def test_the_exit_code_says_whether_something_is_left(
    source: str, code: int, says: str, module: Callable[..., type], capsys: pytest.CaptureFixture[str]
) -> None:
    cls = module(source)
    assert main(["inventory", f"{cls.__module__}:Provider"]) == code
    written = capsys.readouterr()
    assert written.err.splitlines()[0] == says
    assert written.out.startswith("Provider: ")


def test_the_json_form_is_alone_on_stdout_and_as_its_schema_says(
    module: Callable[..., type], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"{module(source).__module__}:Provider" for source in (KEEPS, CLEAN, UNSEEN)]
    assert main(["inventory", "--json", *names]) == 1
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, SCHEMA)
    first, second, third = report["inventories"]
    assert [method["name"] for method in first["legacy"]] == ["create_session", "send_message"]
    assert first["methods"][1]["touches"] == [
        {"kind": "writes", "what": "_history", "line": 7, "source": "self._history.append(message)"}
    ]
    assert second["methods"] == []
    assert len(third["problems"]) == 1


def test_a_class_that_is_named_twice_is_listed_once(
    module: Callable[..., type], capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{module(CLEAN).__module__}:Provider"
    assert main(["inventory", name, name]) == 0
    assert capsys.readouterr().out == "Provider: nothing left\n"


def test_the_table_has_methods_with_their_lines(take: Take) -> None:
    out = io.StringIO()
    print_inventory(take(KEEPS).inventory, out)
    heading, file, columns, *rows = [line.rstrip() for line in out.getvalue().splitlines()]
    assert heading == "Provider: 2 methods to do with history, 2 of them legacy methods"
    assert file.strip().endswith(".py")
    assert columns.split() == ["line", "method", "writes"]
    assert [row.split() for row in rows] == [
        ["3", "Provider.create_session", "(legacy)", "_history", "4"],
        ["6", "Provider.send_message", "(legacy)", "_history", "7"],
    ]


def test_the_table_of_a_session_leaves_its_own_history_out(take: Take) -> None:
    facts = take(
        """
        class Session:
            def __init__(self, provider):
                self.provider, self.history = provider, []

            def send(self, text):
                self.history.append(text)
                return self.provider.send_message(text)
        """,
        "Session",
    )
    out = io.StringIO()
    print_inventory(facts.inventory, out)
    assert "a session, 1 of its methods use what its provider must lose" in out.getvalue()
    assert "send_message()  8" in out.getvalue()
    assert "__init__" not in out.getvalue()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere", "'nowhere' is not module:attribute"),
        ("nowhere_at_all:Provider", "there is no module 'nowhere_at_all'"),
        ("turnproof.provider:LegacyProvidr", "has no attribute 'LegacyProvidr'; did you mean 'LegacyProvider'?"),
        ("turnproof.provider:Path", "is a _LiteralGenericAlias, not a class"),
        ("builtins:int", "builtins.int has no Python source to look at"),
    ],
)
def test_a_class_that_cannot_be_read_is_one_line_and_exit_code_2(
    name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inventory", name]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    line, last = written.err.splitlines()
    assert says in line
    assert last.startswith("exit 2: ")
