"""`turnproof inventory` from Python: what each method of a class reads and writes of history, found in its source.

The engine is in `commands.inventory`.
"""

from ..commands.inventory import Inventory, MethodUse, Touch, inventory_json, print_inventory, take_inventory

__all__ = ["Inventory", "MethodUse", "Touch", "inventory_json", "print_inventory", "take_inventory"]
