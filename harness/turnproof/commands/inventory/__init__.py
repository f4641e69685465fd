"""What each method of a class reads and writes of history, found in its source.

A gate can so say what is left to remove, with file and line. `sources` finds the code, `expressions`, `calls` and
`reading` follow what flows where into a `world`, `judging` decides which places hold history.
"""

from .model import Inventory, MethodUse, Touch, inventory_json
from .take import take_inventory
from .terminal import print_inventory

__all__ = [
    "Inventory",
    "MethodUse",
    "Touch",
    "inventory_json",
    "print_inventory",
    "take_inventory",
]
