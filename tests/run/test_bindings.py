"""Bindings by name: what can be found is found, and every way to get it wrong is one clear line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from turnproof.errors import BindingError, UsageError
from turnproof.provider import Binding, Capabilities
from turnproof.run.bindings import (
    binding_names,
    resolve_binding,
    resolve_session,
    resolve_subject,
    runnable_adapters,
    session_names,
    subject_of,
)
from turnproof.session.binding import REFERENCE
from turnproof.subject import SessionBinding

MODULE = """
from turnproof.provider import Binding, Capabilities
from turnproof.subject import SessionBinding
BINDING = Binding(name="mine", dialect="anthropic-messages", model="m", capabilities=Capabilities())
SESSION = SessionBinding("theirs", open=None, send=None, history=None, adapter="their_binding:BINDING")
ADRIFT = SessionBinding("adrift", open=None, send=None, history=None, adapter="antropic")
OTHER = 3
class Holder:
    inside = BINDING
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with modules of somebody's; import state is put back."""
    (tmp_path / "their_binding.py").write_text(MODULE)
    (tmp_path / "their_broken.py").write_text("raise RuntimeError('no licence\\nsecond line')")
    (tmp_path / "their_exit.py").write_text("import sys; sys.exit(3)")
    (tmp_path / "their_needy.py").write_text("import a_package_nobody_has")
    (tmp_path / "their_syntax.py").write_text("def (:")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [item for item in sys.path if item != ""])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("their_"):
            del sys.modules[name]


def test_an_installed_binding_is_found_by_name() -> None:
    assert "anthropic" in binding_names()
    assert resolve_binding("anthropic").name == "anthropic"


def error_of_one_line(resolve: Callable[[str], object], name: str, says: str) -> BindingError:
    with pytest.raises(BindingError, match=says) as failure:
        resolve(name)
    assert "\n" not in str(failure.value)
    return failure.value


@pytest.mark.parametrize("name", ["their_binding:BINDING", "their_binding:Holder.inside"])
def test_anybodys_binding_is_found_from_the_current_folder(name: str) -> None:
    binding = resolve_binding(name)
    assert isinstance(binding, Binding)
    assert binding.claims() == Capabilities()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "antropic",
            r"unknown adapter 'antropic'; did you mean 'anthropic'\? \(known: .*module:attribute\)",
        ),
        ("zzz", r"unknown adapter 'zzz' \(known: "),
        ("their_binding:BINDNG", r"has no attribute 'BINDNG'; did you mean 'BINDING'\?"),
        ("their_binding:zzz", r"has no attribute 'zzz' \(bindings there: BINDING, SESSION, ADRIFT\)"),
        ("their_binding:Holder.zzz", r"has no attribute 'Holder.zzz'"),
        ("their_binding:OTHER", r"is a int, not a turnproof.provider.Binding"),
        ("their_bindin:BINDING", r"there is no module 'their_bindin'"),
        ("their_binding.sub:BINDING", r"there is no module 'their_binding.sub'"),
        ("no_package.sub:BINDING", r"there is no module 'no_package'"),
        ("their_broken:BINDING", r"importing their_broken failed: RuntimeError: no licence$"),
        ("their_exit:BINDING", r"importing their_exit failed: SystemExit: 3"),
        ("their_syntax:BINDING", r"importing their_syntax failed: SyntaxError"),
        ("their_needy:BINDING", r"needs the module 'a_package_nobody_has', which is not installed"),
        ("their_binding:SESSION", r"is a SessionBinding, not a turnproof.provider.Binding"),
        (":BINDING", r"':BINDING' is not module:attribute"),
        ("their_binding:", r"'their_binding:' is not module:attribute"),
        ("", r"unknown adapter ''"),
    ],
)
def test_every_mistake_is_one_clear_line(name: str, says: str) -> None:
    assert isinstance(error_of_one_line(resolve_binding, name, says), UsageError)


# -- sessions and subjects -------------------------------------------------------------------------------------------


def test_the_reference_session_is_installed() -> None:
    assert "reference" in session_names()
    assert resolve_session("reference") is REFERENCE
    assert resolve_subject("reference").adapter.name == "anthropic"


def test_an_adapter_is_a_subject_under_the_reference_session() -> None:
    subject = resolve_subject("their_binding:BINDING")
    assert (subject.kind, subject.name, subject.session) == ("adapter", "mine", REFERENCE)


def test_anybodys_session_is_a_subject_with_the_adapter_that_it_names() -> None:
    subject = resolve_subject("their_binding:SESSION")
    assert (subject.kind, subject.name, subject.adapter.name) == ("session", "theirs", "mine")


def test_a_session_may_be_run_with_another_adapter() -> None:
    subject = resolve_subject("their_binding:SESSION@anthropic")
    assert (subject.kind, subject.name, subject.adapter.name) == ("session", "theirs", "anthropic")


def test_a_session_may_bring_its_adapter_along() -> None:
    binding = Binding("brought", "anthropic-messages", "m", Capabilities())
    session = SessionBinding("s", open=lambda setup: None, send=lambda *_: None, history=lambda _: (), adapter=binding)  # type: ignore[arg-type]
    assert subject_of(session).adapter is binding


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("referenc", r"unknown adapter, session or agent 'referenc'"),
        ("their_binding:BINDING@anthropic", r"is a Binding, not a turnproof.subject.SessionBinding"),
        ("their_binding:SESSION@antropic", r"unknown adapter 'antropic'; did you mean 'anthropic'"),
        ("their_binding:ADRIFT", r"unknown adapter 'antropic'"),
        ("@anthropic", r"unknown session ''"),
        ("their_binding:OTHER", r"not a turnproof.provider.Binding, a turnproof.subject.SessionBinding or "),
    ],
)
def test_what_is_no_subject_is_one_clear_line(name: str, says: str) -> None:
    error_of_one_line(resolve_subject, name, says)


def test_what_can_be_run_is_what_has_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runnable_adapters() == tuple(binding_names())

    def version(package: str) -> str:
        if package == "google-genai":
            raise PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr("importlib.metadata.version", version)
    assert set(binding_names()) - set(runnable_adapters()) == {"google_genai", "google_interactions"}


def test_where_nothing_can_be_run_the_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("importlib.metadata.version", version)
    with pytest.raises(BindingError, match="install what they need \\(anthropic, azure-ai-inference, google-genai, "):
        runnable_adapters()


def test_an_adapter_takes_another_model_behind_an_equals_sign() -> None:
    found = resolve_binding("anthropic=claude-opus-4-8")
    assert (found.name, found.model) == ("anthropic=claude-opus-4-8", "claude-opus-4-8")
    assert resolve_subject("reference@anthropic=claude-opus-4-8").model == "claude-opus-4-8"
    assert resolve_subject("anthropic=claude-opus-4-8").model == "claude-opus-4-8"
    assert resolve_binding("anthropic").model != "claude-opus-4-8"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropic=", "the model behind the = is missing"),
        ("reference=claude-opus-4-8", "as reference@ADAPTER=claude-opus-4-8"),
        ("anthropc=m", "unknown adapter, session or agent 'anthropc'; did you mean"),
    ],
)
def test_a_model_without_its_adapter_or_an_adapter_without_its_model_is_refused(name: str, words: str) -> None:
    with pytest.raises(BindingError, match=words):
        resolve_subject(name)
