"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from .bench import bench
from .catalogues import listing
from .census import census
from .certify import certify
from .compare import compare
from .coverage import coverage
from .diff import diff
from .doctor import doctor
from .explain import explain
from .explore import explore
from .gate import gate
from .handoff import handoff
from .history import history
from .import_traffic import import_traffic
from .inventory import inventory
from .merge import merge
from .mutants import mutants
from .record import record
from .report import report
from .reproduce import reproduce
from .serve import serve
from .sessions import sessions
from .verify import verify

app = typer.Typer(
    name="turnproof",
    help="Certify LLM provider adapters over real HTTP, with evidence.",
    epilog=(
        "Exit codes: 0 all claimed MUSTs held; 1 violations; 2 usage, environment or harness fault; "
        "3 nothing measured, or a MUST inconclusive; 130 interrupted; 141 the reader of the output has gone; "
        "143 ended by SIGTERM."
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(enabled: bool) -> None:
    if enabled:
        from ... import __version__

        typer.echo(f"turnproof {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


_COMMANDS: tuple[Callable[..., Exit | None], ...] = (
    explain,
    certify,
    compare,
    handoff,
    gate,
    inventory,
    record,
    serve,
    census,
    bench,
    explore,
    mutants,
    report,
    merge,
    diff,
    history,
    coverage,
    verify,
    reproduce,
    doctor,
)

app.command("list")(listing)
app.command("import")(import_traffic)
for command in _COMMANDS:
    app.command()(command)
app.add_typer(sessions, name="sessions")
