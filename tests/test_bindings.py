"""Bindings by name: what can be found is found, and every way to get it wrong is one clear line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnproof.bindings import binding_names, resolve_binding
from turnproof.errors import BindingError, UsageError
from turnproof.provider import Binding, Capabilities

MODULE = """
from turnproof.provider import Binding, Capabilities
BINDING = Binding(name="mine", dialect="anthropic-messages", model="m", capabilities=Capabilities())
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
        ("their_binding:zzz", r"has no attribute 'zzz' \(bindings there: BINDING\)"),
        ("their_binding:Holder.zzz", r"has no attribute 'Holder.zzz'"),
        ("their_binding:OTHER", r"is a int, not a turnproof.provider.Binding"),
        ("their_bindin:BINDING", r"there is no module 'their_bindin'"),
        ("their_binding.sub:BINDING", r"there is no module 'their_binding.sub'"),
        ("no_package.sub:BINDING", r"there is no module 'no_package'"),
        ("their_broken:BINDING", r"importing their_broken failed: RuntimeError: no licence$"),
        ("their_exit:BINDING", r"importing their_exit failed: SystemExit: 3"),
        ("their_syntax:BINDING", r"importing their_syntax failed: SyntaxError"),
        ("their_needy:BINDING", r"needs the module 'a_package_nobody_has', which is not installed"),
        (":BINDING", r"':BINDING' is not module:attribute"),
        ("their_binding:", r"'their_binding:' is not module:attribute"),
        ("", r"unknown adapter ''"),
    ],
)
def test_every_mistake_is_one_clear_line(name: str, says: str) -> None:
    with pytest.raises(BindingError, match=says) as caught:
        resolve_binding(name)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, UsageError)
