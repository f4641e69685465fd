"""How long it takes to certify an adapter, for each verdict; and how many TLS contexts, which are what a client costs,
are made on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ....dialects import dialect
from ....errors import ProviderError
from ....run.bindings import resolve_binding
from ....wire.emulator import EmulatorServer
from ....wire.emulator.server_run import CANARY_KEY
from .parts import Compared, FolderPart, Key
from .processes import run
from .scripted_model import ScriptedModel

_ADAPTER = "anthropic"

_SUITE = Path(__file__).with_name("langchain_suite.py")
# One loop for all: the model keeps an asynchronous client from test to test.
_PYTEST = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--asyncio-mode=auto"]
for _scope in ("test", "fixture"):
    _PYTEST += ["-o", f"asyncio_default_{_scope}_loop_scope=session"]

_COUNTED = """
import ssl, sys
made = 0
loads = ssl.SSLContext.load_verify_locations, ssl.SSLContext.load_default_certs
def counting(load):
    def counted(self, *args, **options):
        global made
        if not getattr(self, "_counted", False):
            made += 1
            self._counted = True
        return load(self, *args, **options)
    return counted
ssl.SSLContext.load_verify_locations, ssl.SSLContext.load_default_certs = map(counting, loads)
from turnproof.commands.cli import main
code = main(["certify", {adapter!r}, "--in-process", "--out", {out!r}])
assert code == 0, code
print(made)
"""


class Certifying(FolderPart):
    """Wall time of `turnproof certify`, whole process, for each of its verdicts.

    Beside it, with the `python` of an environment that has them, LangChain's standard integration tests of one model
    for each that passes. A test that fails makes the part fail.
    """

    unit = "ms"
    ratios: Sequence[Compared] = (("check", ("check", f"turnproof certify {_ADAPTER}"), ("check", "langchain-tests")),)

    def __init__(self, python: Path | None = None) -> None:
        self._python = python

    def round(self) -> Mapping[Key, float]:
        """Milliseconds a verdict."""
        process = run(["-m", "turnproof", "certify", _ADAPTER, "--out", str(self.folder)])
        found = {("check", f"turnproof certify {_ADAPTER}"): process.wall / verdicts(self.folder) * 1e3}
        if self._python is not None:
            found["check", "langchain-tests"] = _standard_tests(self._python, self.folder)
        return found


def _standard_tests(python: Path, folder: Path) -> float:
    """Milliseconds of the whole process for each test that passed."""
    binding = resolve_binding(_ADAPTER)
    with EmulatorServer() as server:
        at = server.open_run(dialect(binding.dialect), ScriptedModel())
        env = {"STANDARD_URL": at.base_url, "STANDARD_KEY": CANARY_KEY, "STANDARD_MODEL": binding.model}
        process = run(["-m", "pytest", *_PYTEST, str(_SUITE)], python=str(python), cwd=folder, env=env)
    passed = re.search(r"(\d+) passed", process.stdout)
    if passed is None:
        raise ProviderError(f"langchain-tests passed nothing: {process.stdout[-200:]!r}")
    return process.wall / int(passed[1]) * 1e3


class Contexts(FolderPart):
    """How many TLS contexts with authorities the certification of one adapter makes in one process."""

    unit = "contexts"
    ratios: Sequence[Compared] = (
        ("TLS contexts", ("TLS contexts", f"turnproof certify {_ADAPTER}"), ("TLS contexts", "an adapter")),
    )

    def round(self) -> Mapping[Key, float]:
        """The number."""
        code = _COUNTED.replace("{adapter!r}", repr(_ADAPTER)).replace("{out!r}", repr(str(self.folder)))
        output = run(["-c", code]).stdout
        count = float(output.strip().splitlines()[-1])
        return {("TLS contexts", f"turnproof certify {_ADAPTER}"): count, ("TLS contexts", "an adapter"): 1.0}


def verdicts(folder: Path) -> int:
    """How many verdicts a certification has: one for each requirement and path."""
    document = json.loads((folder / "certification.json").read_text("utf-8"))
    return sum(
        len(requirement["paths"])
        for adapter in document["adapters"].values()
        for requirement in adapter["requirements"].values()
    )
