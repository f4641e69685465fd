"""Scenarios: whole conversations as data. `load` reads one YAML file, `load_all` a folder of them."""

from .loader import load, load_all
from .model import Scenario

__all__ = ["Scenario", "load", "load_all"]
