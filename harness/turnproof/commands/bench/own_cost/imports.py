"""What importing takes, in CPU time of a process of its own, less that of one which imports nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .parts import Compared, Key
from .processes import run

_MODULES = ("pytest", "turnproof.session", "turnproof.run.driver", "turnproof.commands.cli")
_SDKS = ("anthropic", "azure.ai.inference", "google.genai", "httpx", "httpx2", "ollama", "openai")


class Imports:
    """`import` of the session, the driver, the command line, and of pytest beside them."""

    unit = "ms"
    ratios: Sequence[Compared] = tuple(("import", ("import", module), ("import", "pytest")) for module in _MODULES[1:])

    def __enter__(self) -> Imports:
        # The compiled files are there, or are not, for all rounds alike.
        for module in _MODULES:
            run(["-c", f"import {module}"])
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def round(self) -> Mapping[Key, float]:
        """Milliseconds of each."""
        nothing = run(["-c", "pass"]).cpu
        return {
            ("import", module): max(run(["-c", f"import {module}"]).cpu - nothing, 0.001) * 1e3 for module in _MODULES
        }


class ImportedSdks:
    """How many of the providers' SDKs and HTTP clients come with the harness."""

    unit = "modules"
    ratios: Sequence[Compared] = (("provider SDKs imported", ("SDKs imported", "turnproof"), ("SDKs imported", "one")),)

    def __enter__(self) -> ImportedSdks:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def round(self) -> Mapping[Key, float]:
        """The number."""
        imports = "import sys, turnproof.run.driver, turnproof.commands.cli"
        code = f"{imports}; print(sum(name in sys.modules for name in {_SDKS!r}))"
        return {("SDKs imported", "turnproof"): float(run(["-c", code]).stdout), ("SDKs imported", "one"): 1.0}
