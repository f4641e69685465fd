"""Packages that the workers of a cluster lack are sent along as wheels, and what cannot be used is refused."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from run.cluster.clusters import dask_cluster, digests, specs
from turnproof.errors import UsageError
from turnproof.run.bindings import resolve_subject
from turnproof.run.cluster import runner as cluster_runner
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.cluster.wheels import send
from turnproof.run.driver.run_place import RunPlace
from turnproof.run.places import run_place

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

PACKAGE = "adapter_in_a_wheel"
SUBJECT = f"{PACKAGE}:BINDING"
MODULE = """
from dataclasses import replace
from turnproof.wire.controls.openai_chat import CONTROL

def open_stateless(endpoint):
    return CONTROL.open_stateless(endpoint)

BINDING = replace(CONTROL, name="sent", open_stateless=open_stateless, open_legacy=None)
"""


def built(folder: Path, *more: str, tag: str = "py3-none-any", module: str = MODULE) -> Path:
    """A wheel with the package, and with `more` empty files."""
    target = folder / f"{PACKAGE}-1.0-{tag}.whl"
    with zipfile.ZipFile(target, "w") as packed:
        packed.writestr(f"{PACKAGE}/__init__.py", module)
        packed.writestr(f"{PACKAGE}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n")
        for name in more:
            packed.writestr(name, "")
    return target


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for temporary files on the workers."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory, temporary: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        with dask_cluster(1, str(tmp_path_factory.mktemp("dask"))) as found:
            yield found


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dask: Any) -> None:
    """The package is importable here, and not on the workers, which have started before."""
    package = tmp_path / "site" / PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "site")


def is_importable(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def place(dask: Any, *wheels: Path) -> RunPlace:
    return run_place(ClusterOptions(dask.scheduler_address, wheels=wheels), {SUBJECT: resolve_subject(SUBJECT)})


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_a_package_that_is_sent_along_makes_the_runs_of_this_machine(
    dask: Any, tmp_path: Path, temporary: Path
) -> None:
    from distributed import Client

    runs = specs(SUBJECT, ("tools/one",))
    local = digests(run_place(None, {SUBJECT: resolve_subject(SUBJECT)}, jobs=1), runs)
    with pytest.raises(UsageError, match=f"the sources of {PACKAGE}: "), place(dask):
        pass
    assert digests(place(dask, built(tmp_path)), runs) == local
    with Client(dask.scheduler_address, set_as_default=False) as client:
        assert [*client.run(is_importable, PACKAGE).values()] == [False]
    until = time.monotonic() + 20
    while [*temporary.glob("turnproof-wheels-*")] and time.monotonic() < until:
        time.sleep(0.1)
    assert not [*temporary.glob("turnproof-wheels-*")]


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_a_wheel_with_other_sources_than_here_is_refused(dask: Any, tmp_path: Path) -> None:
    wheel = built(tmp_path, module=MODULE + "# changed\n")
    with pytest.raises(UsageError, match=f"the sources of {PACKAGE}: "), place(dask, wheel):
        pass


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_a_wheel_that_changed_on_its_way_is_refused(dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = lambda wheels, share: tuple(replace(one, sha256="0" * 64) for one in send(wheels, share))  # noqa: E731
    monkeypatch.setattr(cluster_runner, "send", changed)
    with pytest.raises(UsageError, match=r"any\.whl did not arrive there as it was sent"), place(dask, built(tmp_path)):
        pass


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_a_wheel_for_another_system_is_refused(dask: Any, tmp_path: Path) -> None:
    wheel = built(tmp_path, tag="cp27-cp27m-win32")
    with pytest.raises(UsageError, match="is not for the Python and system there"), place(dask, wheel):
        pass


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"", "is no wheel"),
        ("a_package-1.0-py3-none-any.whl", b"no zip", "is no wheel"),
        ("missing-1.0-py3-none-any.whl", None, "is no wheel"),
    ],
)
def test_what_is_no_wheel_is_refused_before_anything_is_sent(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        run_place(ClusterOptions("local:1", wheels=(file,)), {})


def test_a_wheel_that_has_to_be_installed_is_refused(tmp_path: Path) -> None:
    wheel = built(tmp_path, f"{PACKAGE}-1.0.data/scripts/tool")
    with pytest.raises(UsageError, match="install it on the workers"):
        run_place(ClusterOptions("local:1", wheels=(wheel,)), {})
