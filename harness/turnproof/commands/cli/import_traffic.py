"""`turnproof import`: make scenarios of recorded traffic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from . import completion


def import_traffic(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Cassettes of vcrpy, HAR files, or OTLP traces in JSON."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the scenarios go.", show_default=True)] = Path(
        "imported"
    ),
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="DIALECT",
            autocompletion=completion.dialects,
            help="Read all of it as this API. Default: by address.",
        ),
    ] = None,
    mask: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Mask this text everywhere; may be given more than once.")
    ] = None,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Write without asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace scenarios that are there.")] = False,
) -> Exit:
    """Make scenarios of recorded traffic, with the real answers.

    Shows what would be written, what of it is masked and what is left out, and asks before it writes. Then
    `certify NAME --scenario DIR/` drives an adapter through these conversations.
    """
    from ..imports.engine import ImportOptions, prepare, show, write

    result = prepare(ImportOptions(tuple(files), out, dialect, tuple(mask or ()), force))
    show(result, typer.echo)
    if not result.scenarios:
        typer.echo("nothing to write: no conversation can be made into a scenario", err=True)
        return Exit.UNDECIDED
    if not yes and not _agreed(len(result.scenarios), out):
        typer.echo("nothing was written; --yes writes without asking", err=True)
        return Exit.FAULT
    write(result)
    typer.echo(f"written. Next: turnproof certify NAME --scenario {out}/")
    return Exit.OK


def _agreed(number: int, out: Path) -> bool:
    return sys.stdin.isatty() and typer.confirm(f"Write {number} files to {out}?")
