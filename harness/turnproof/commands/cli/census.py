"""`turnproof census`: what real services refuse."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole
from ...errors import UsageError
from . import completion
from .options import Prices


def census(
    dialect: Annotated[
        list[str],
        typer.Argument(
            metavar="DIALECT|FILE...",
            autocompletion=completion.dialects,
            help="The API that is asked, perhaps NAME@SURFACE; with --merge, files of a census.",
        ),
    ],
    live: Annotated[bool, typer.Option("--live", help="Ask the service; needs a key in the environment.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Only these rules; patterns work.")] = None,
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="Ask this model.")] = None,
    max_cost: Annotated[float, typer.Option(metavar="USD", help="Refuse what may cost more.")] = 0.10,
    price: Prices = None,
    contributor: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who asks: a name that others can reach.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --live: keep the answers as cassettes in this folder.")
    ] = None,
    cassettes: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Answer from the cassettes in this folder, as `--record DIR` wrote them."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the lines go. Default: census-DIALECT.ndjson, with --cassettes census-DIALECT-replayed.ndjson.",
        ),
    ] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Show what these files say together.")] = False,
    source: Annotated[
        str | None, typer.Option(metavar="URL", help="With --merge: where the files can be read; writes the decisions.")
    ] = None,
) -> Exit:
    """Find out which rules of a dialect a real service enforces.

    For each rule it sends two requests: the smallest one that breaks the rule, and the most similar one that does not.
    Without --live it only shows them. With --cassettes it reads the answers of an earlier census again; rules without
    an answer there stay undecided (exit code 3).
    """
    if merge:
        return _merge(tuple(map(Path, dialect)), source)
    if len(dialect) > 1:
        raise UsageError(
            f"one API is asked at a time, found {' and '.join(dialect)}; files of a census go with --merge"
        )
    [name] = dialect
    if cassettes is not None:
        for flag, is_set in (("--live", live), ("--record", record is not None), ("--as", contributor is not None)):
            if is_set:
                raise UsageError(f"{flag} is about asking the service, and --cassettes answers from what it once said")
    if record is not None and not live:
        raise UsageError("--record keeps what the service answers: give it with --live")
    from ..census.engine import census as engine
    from ..census.options import ANONYMOUS, CensusOptions

    kind = "-replayed" if cassettes is not None else ""
    options = CensusOptions(
        dialect=name,
        out=out or Path(f"census-{name.replace('@', '-')}{kind}.ndjson"),
        live=live,
        only=tuple(only or ()),
        model=model,
        contributor=contributor or ANONYMOUS,
        max_cost=max_cost,
        prices=price,
        record=record,
        cassettes=cassettes,
    )
    return Exit.UNDECIDED if engine(options, typer.echo).missing else Exit.OK


def _merge(files: tuple[Path, ...], source: str | None) -> Exit:
    from ...dialects.census import text_of
    from ..census.merge import decisions, table
    from ..census.merge import merge as engine

    rows = engine(files)
    if not rows:
        typer.echo("these files have no line", err=True)
        return Exit.UNDECIDED
    for line in table(rows):
        typer.echo(line)
    if source is not None:
        if not source.startswith("https://"):
            raise UsageError(f"--source is an address where anybody can read the files, found {source!r}")
        decided = decisions(rows, source)
        write_whole(Path(str(resources.files("turnproof.dialects"))) / "census.json", text_of(decided))
        typer.echo(f"{len(decided)} decisions written")
    return Exit.OK
