"""`turnproof inventory`: what each method of a class reads and writes of history."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..._base.exit_codes import Exit


def inventory(
    classes: Annotated[list[str], typer.Argument(metavar="PKG:CLASS", help="Providers and sessions.")],
    follow: Annotated[
        list[str] | None,
        typer.Option(metavar="PACKAGE", help="Read this package's source as well, although it is installed."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
) -> Exit:
    """List what each method of a class reads and writes of history.

    Found in the source of the class, of its bases, and of what they use of the project; none of it is run, beyond
    importing the class. Exit codes: 0 nothing is left to remove; 1 something is; 3 nothing was found, but there are
    spots that the source alone does not decide; 2 as everywhere.
    """
    from ...run.bindings import find_class
    from ..inventory import inventory_json, print_inventory, take_inventory

    inventories = tuple(take_inventory(find_class(name), follow or ()) for name in dict.fromkeys(classes))
    if json:
        sys.stdout.write(inventory_json(inventories).decode())
    else:
        for found in inventories:
            print_inventory(found)
    unfinished = [found.name for found in inventories if found.left]
    undecided = [found.name for found in inventories if found.problems]
    if unfinished:
        print(f"something is left in {', '.join(unfinished)}", file=sys.stderr)
        return Exit.VIOLATIONS
    if undecided:
        print(f"nothing was found, but not all can be seen in {', '.join(undecided)}", file=sys.stderr)
        return Exit.UNDECIDED
    print("nothing is left", file=sys.stderr)
    return Exit.OK
