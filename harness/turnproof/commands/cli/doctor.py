"""`turnproof doctor`: is everything here, does it work, and can it speak to an adapter?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from . import completion
from .options import names_argument


def doctor(
    adapters: Annotated[
        list[str] | None,
        names_argument(
            completion.adapters,
            "ADAPTER",
            "Bindings to examine: installed names, or module:attribute. Default: those configured, or none.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder that reports are to go to. Default: reports.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the list.")] = False,
) -> Exit:
    """Examine the installation, the emulator and bindings.

    Exit codes: 0 nothing is wrong; 1 a binding is; 2 the installation, the machine or the emulator is.
    """
    from ..._base.settings import load_config
    from ...report.progress import progress
    from ..doctor import DoctorOptions, diagnosis_json, examine
    from ..doctor.text import print_diagnosis
    from .certify import configured_out

    config = load_config(Path.cwd())
    settings = config.settings
    options = DoctorOptions(
        adapters=tuple(dict.fromkeys(adapters or settings.adapters)),
        out=out or configured_out(config.file, settings.out),
    )
    with progress("doctor") as tracker:
        diagnosis = examine(options, tracker)
    if json:
        sys.stdout.write(diagnosis_json(diagnosis).decode())
    else:
        print_diagnosis(diagnosis)
    return diagnosis.exit_code
