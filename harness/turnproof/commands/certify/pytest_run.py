"""Running a campaign's items under pytest: one item a verdict.

pytest is used with an ini of our own, no rootdir of the user's, no conftest and no plugin but ours, so that nothing in
the directory where somebody happens to stand can change a verdict.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import pytest

from ..._base.environment import environment_with
from ...errors import HarnessError
from .campaign import Campaign
from .pytest_items import RequirementItems

_UNUSED = (
    "cacheprovider",
    "capture",
    "faulthandler",
    "junitxml",
    "logging",
    "terminal",
    "threadexception",
    "unraisableexception",
)
_WITHOUT_FOREIGN_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": None, "PYTEST_PLUGINS": None}
_INI = "[pytest]\naddopts =\nconsole_output_style = classic\n"


def run_items(campaign: Campaign) -> None:
    """Decide every item of the campaign. Raises KeyboardInterrupt when pytest was interrupted, HarnessError when it
    could not do its work."""
    with tempfile.TemporaryDirectory(prefix="turnproof-") as folder, environment_with(_WITHOUT_FOREIGN_PLUGINS):
        ini = Path(folder) / "pytest.ini"
        ini.write_text(_INI)
        nothing = Path(folder) / "items"
        nothing.mkdir()
        arguments = ["-c", str(ini), "--rootdir", folder, "--confcutdir", folder, "--noconftest", str(nothing)]
        for name in _UNUSED:
            arguments += ["-p", f"no:{name}"]
        plugin = RequirementItems(campaign)
        talk = io.StringIO()
        with contextlib.redirect_stdout(talk):
            code = pytest.main(arguments, plugins=[plugin])
    if plugin.crash is not None:
        raise plugin.crash
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        raise HarnessError(f"pytest could not run the items (exit {int(code)}): {talk.getvalue()[-500:]}")
