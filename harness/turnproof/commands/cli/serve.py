"""`turnproof serve`: a provider to develop against, without a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion
from .options import names_option

if TYPE_CHECKING:
    from ...scenarios import Scenario


def serve(
    dialect: Annotated[
        str, typer.Option(autocompletion=completion.dialects, help="The wire API to speak.")
    ] = "anthropic-messages",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    scenario: Annotated[
        str | None, names_option(completion.scenarios, "NAME|FILE", "Answer from this scenario. Default: echo.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Accept only this key. Default: any.")] = None,
) -> None:
    """Serve the emulator to develop against.

    It accepts and refuses what the real API does, with a real prefix cache. Prints its URL, logs every request, and
    ends on Ctrl-C.
    """
    from ...wire.emulator.serve import ServeOptions
    from ...wire.emulator.serve import serve as engine

    options = ServeOptions(
        dialect=dialect, host=host, port=port, scenario=None if scenario is None else _scenario(scenario), key=key
    )
    engine(options, typer.echo, lambda line: typer.echo(line, err=True))


def _scenario(name: str) -> Scenario:
    """A scenario file, or one of the installed suite by name."""
    from ..._base.suggestions import did_you_mean
    from ...errors import UsageError
    from ...scenarios import load

    if name.endswith((".yaml", ".yml")):
        return load(Path(name))
    from ...judge.requirements import load_suite
    from ..certify.scenarios import suite_scenarios

    scenarios = {scenario.name: scenario for scenario in suite_scenarios(load_suite())}
    if name not in scenarios:
        raise UsageError(f"no scenario {name!r}{did_you_mean(name, scenarios)}; `turnproof list scenarios` shows all")
    return scenarios[name]
