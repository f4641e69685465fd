"""Scenarios: whole conversations as data.

`load` reads one YAML file, `load_all` a folder of them, `from_data` their plain data; `to_yaml` writes such data down.
"""

from ._writing import to_yaml
from .loader import from_data, load, load_all
from .model import Scenario

__all__ = ["Scenario", "from_data", "load", "load_all", "to_yaml"]
