"""Names of packages that are imported when they are asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

LAZY = ("turnproof.cassettes", "turnproof.emulator", "turnproof.scenarios")
each = pytest.mark.parametrize("package", LAZY)


@each
def test_every_name_of_a_lazy_package_is_there(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name).__class__, name
    assert set(module.__all__) <= set(vars(module)), "a name that was asked for is kept"


@each
def test_a_name_that_is_not_there_is_named_with_its_package(package: str) -> None:
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'no_such'"):
        importlib.import_module(package).no_such  # noqa: B018


def test_the_driver_is_imported_without_what_only_some_of_its_runs_need() -> None:
    code = "import sys, turnproof.driver; print(*sorted({'aiohttp', 'yaml', 'httpx2', 'pytest'} & {*sys.modules}))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == []
