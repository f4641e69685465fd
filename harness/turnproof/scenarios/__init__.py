"""Scenarios: whole conversations as data.

`load` reads one YAML file, `load_all` a folder of them, `from_data` their plain data; `to_yaml` writes such data down.
Who runs a scenario needs none of these: they are imported when they are asked for.
"""

from typing import TYPE_CHECKING

from .._base.lazy import lazily
from .model import Scenario

if TYPE_CHECKING:
    from ._writing import to_yaml
    from .loader import from_data, load, load_all
else:  # a type checker that saw it would take any name
    __getattr__ = lazily(
        __name__, {"from_data": "loader", "load": "loader", "load_all": "loader", "to_yaml": "_writing"}
    )

__all__ = ["Scenario", "from_data", "load", "load_all", "to_yaml"]
