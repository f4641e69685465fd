"""Whose code a frame is, and how its file is named."""

from __future__ import annotations

import inspect
import json
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, wraps
from operator import attrgetter
from pathlib import Path
from typing import Any

import httpx2
import pytest

import turnproof.messages
import turnproof_suites.mutants.secrets
from turnproof.agents import AgentBinding
from turnproof.run.bindings import resolve_subject, subject_of
from turnproof.run.driver.mutation import mutated
from turnproof.run.driver.ownership import owners_of
from turnproof.run.tracebacks import Owner, Owners, package_of
from turnproof.run.tracebacks.frame_owners import Place
from turnproof.subject import SessionBinding
from turnproof_adapters.openai.binding import BINDING

PACKAGES = Path(sysconfig.get_path("purelib"))
CLIENT = httpx2.__file__


@dataclass(frozen=True)
class Code:
    id: str
    module: str
    file: str
    owner: Owner


CODE = [
    Code("its package", "mine.sub", str(PACKAGES / "mine/sub.py"), "subject"),
    Code("a package whose name begins like its own", "mine_too", str(PACKAGES / "mine_too.py"), "sdk"),
    Code("an HTTP client", "httpx2._client", CLIENT, "sdk"),
    Code("turnproof", "turnproof.messages", turnproof.messages.__file__, "turnproof"),
    Code("a suite", turnproof_suites.__name__, turnproof_suites.__file__, "turnproof"),
    Code("a reference adapter under somebody else's", "turnproof_adapters.openai", "turnproof_adapters/x.py", "sdk"),
    Code("the library", "json", json.__file__, "library"),
    Code("the frozen library", "importlib._bootstrap", "", "library"),
    Code("text without a module", "", "", "library"),
    Code("a file of the project", "tools.wires", "tools/wires.py", "subject"),
    Code("a file beside the project", "elsewhere", "/opt/team/elsewhere.py", "subject"),
    Code("an SDK that is checked out", "their.sdk", "/opt/their/sdk.py", "sdk"),
    Code("a console", "__main__", "", "subject"),
]


@pytest.mark.parametrize("case", CODE, ids=attrgetter("id"))
def test_a_frame_belongs_to_whoever_wrote_its_module(case: Code) -> None:
    assert Owners(["mine"], imported=["their", "mine"]).owner(case.module, case.file) == case.owner


def test_files_are_named_relative_to_where_they_were_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, library = tmp_path / "home/ada/project", tmp_path / "home/ada/libraries/src"
    project.mkdir(parents=True)
    library.mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(str(library.parent))
    monkeypatch.syspath_prepend(str(library))
    (tmp_path / "link").symlink_to(project)
    place = Owners().place
    assert place(str(project / "src/mine.py")) == Place("project", "src/mine.py")
    assert place("src/mine.py") == Place("project", "src/mine.py")
    assert place(str(tmp_path / "link/mine.py")) == Place("project", "mine.py")
    assert place(str(library / "shared/it.py")) == Place("import-path", "shared/it.py")
    assert place(CLIENT) == Place("site-packages", "httpx2/__init__.py")
    installed = project / ".venv/lib/python3.12/site-packages/openai/_base.py"
    assert place(str(installed)) == Place("site-packages", "openai/_base.py")
    assert place("/usr/lib/python3/dist-packages/apt.py") == Place("site-packages", "apt.py")
    assert place(json.__file__) == Place("stdlib", "json/__init__.py")
    assert place(str(tmp_path / "other.py")) == Place("none", "other.py")
    assert place("<string>") == Place("none", "<string>")


def test_a_working_directory_that_is_gone_takes_nothing_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert Owners().place("/nowhere/mine.py") == Place("none", "mine.py")


def test_a_package_is_the_first_file_above_a_module_and_no_namespace() -> None:
    assert package_of("turnproof_adapters.openai.binding") == "turnproof_adapters"
    assert package_of("toys") == "toys"
    assert package_of("no.such.thing") == "no.such.thing"
    assert package_of("turnproof.session.binding") == "turnproof.session"


# -- of a subject ----------------------------------------------------------------------------------------------


class Adapter:
    """An adapter, as far as its opener goes."""

    def open(self, endpoint: Any) -> Any: ...


def opens(endpoint: Any) -> Any: ...


def sends(session: Any, text: str, turn: Any) -> Any: ...


def through(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any) -> Any: ...

    return wrapper


OPENERS = {
    "a function": opens,
    "a class": Adapter,
    "a method": Adapter().open,
    "a partial": partial(opens, 1),
    "a decorated function": through(opens),
    "a lambda": lambda endpoint: None,
}


@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS)
def test_an_adapters_own_code_is_told_by_its_opener(opener: Any) -> None:
    owners = owners_of(subject_of(replace(BINDING, open_stateless=opener, open_legacy=None)))
    assert owners.owner(__name__, str(PACKAGES / "x.py")) == "subject"
    assert owners.owner("turnproof_adapters.openai", "x.py") == "sdk"
    assert owners.owner("openai", "/opt/openai/checkout.py") == "sdk"


@pytest.mark.parametrize("name", ["openai", "claude_acp", "reference@openai"])
def test_a_reference_adapter_is_a_subject_like_any_other(name: str) -> None:
    owners = owners_of(resolve_subject(name))
    assert owners.owner("turnproof_adapters._calling", str(PACKAGES / "turnproof_adapters/_calling.py")) == "subject"
    assert owners.owner("turnproof.run.driver.tap", "") == "turnproof"
    session: Owner = "subject" if "reference" in name else "turnproof"
    assert owners.owner("turnproof.session.core", "") == session


def test_an_agents_own_code_is_told_by_its_opener() -> None:
    agent = AgentBinding("mine", "anthropic-messages@claude-cli", "claude-sonnet-4-5", open=opens)
    assert owners_of(subject_of(agent)).owner(__name__, str(PACKAGES / "x.py")) == "subject"


def test_a_sessions_own_code_is_also_the_framework_that_its_binding_names() -> None:
    bound = SessionBinding("theirs", open=opens, send=sends, history=list, adapter="openai", package="big-framework")
    owners = owners_of(subject_of(bound))
    assert owners.owner("big_framework.graph", str(PACKAGES / "big_framework/graph.py")) == "subject"
    assert owners.owner("openai._client", str(PACKAGES / "openai/_client.py")) == "sdk"


def test_what_a_mutant_wraps_stays_the_subjects() -> None:
    subject = resolve_subject("openai")
    assert mutated(subject, "key-told-by-errors").adapter.open_stateless is not subject.adapter.open_stateless
    owners = owners_of(subject)
    assert owners.owner(turnproof_suites.mutants.secrets.__name__, turnproof_suites.mutants.secrets.__file__) == (
        "turnproof"
    )


def test_the_class_that_was_opened_is_the_subjects_wherever_it_is_installed() -> None:
    owners = Owners(["binding"])
    owners.add(httpx2.Client())
    owners.add({})
    owners.add(turnproof.messages.TokenUsage())
    assert owners.owner("httpx2._client", CLIENT) == "subject"
    assert owners.owner("json", json.__file__) == "library"
    assert owners.owner("turnproof.messages", turnproof.messages.__file__) == "turnproof"


def test_source_of_a_class_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    classes: list[object] = []
    look_up = inspect.getsourcelines

    def count(cls: type) -> tuple[list[str], int]:
        classes.append(cls)
        return look_up(cls)

    monkeypatch.setattr(inspect, "getsourcelines", count)
    found = [Owners().definition(Counted) for _ in range(3)]
    assert classes == [Counted]
    assert found[0] is not None
    assert found[0].source == "class Counted:"
    assert found == [found[0]] * 3


class Counted:
    """Whose source nothing else here asks for."""


class EqualToAll(type):
    """A metaclass with which every class is the same as any other."""

    def __eq__(cls, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class First(metaclass=EqualToAll): ...


class Second(metaclass=EqualToAll): ...


def test_classes_that_call_themselves_equal_are_told_apart() -> None:
    first, second = Owners().definition(First), Owners().definition(Second)
    assert first is not None
    assert first.function == "First"
    assert second is not None
    assert second.function == "Second"
