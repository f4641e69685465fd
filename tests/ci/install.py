"""Runs the action with its real installation: `python -m tests.ci.install dist/turnproof-1.0.0-py3-none-any.whl`.

It takes the network or a local index, and a minute. `nox -s release` runs it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .action_runner import run_action

SETTINGS = '[project]\nname = "theirs"\nversion = "0"\n[tool.setuptools]\npy-modules = []\n'


def main(wheel: Path) -> int:
    """Certify the adapter for OpenAI by the action, installed from the wheel and from the checkout; 0 if both do."""
    failed = 0
    for source in (f"{wheel.resolve()}[openai]", "checkout"):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder)
            environment = workspace / "environment"
            subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
            (workspace / "pyproject.toml").write_text(SETTINGS, "utf-8")
            inputs = {
                "command": "certify",
                "subjects": "openai",
                "source": source,
                "extras": "openai",
                "install": "-e .",
            }
            run = run_action(workspace, inputs=inputs, path=f"{environment}/bin:/usr/bin:/bin", env=index())
            report = Path(run.outputs["reports"]) / "certification.json"
            good = run.exit_code == 0 and report.is_file()
            print(f"action, turnproof from {source}: exit code {run.exit_code}, {'ok' if good else 'FAILED'}")
            if not good:
                print(run.log, file=sys.stderr)
            failed += not good
            shutil.rmtree(environment)
    return int(failed > 0)


def index() -> dict[str, str]:
    """The index that pip is configured with here, which the home folder of the action's steps does not have."""
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    settings = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return {
        f"PIP_{key.rpartition('.')[2].upper().replace('-', '_')}": value.strip("'").replace("\\n", " ")
        for key, value in settings.items()
        if key.startswith(("global.", "install."))
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
