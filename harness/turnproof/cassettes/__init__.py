"""Recorded exchanges: one file a scenario, written scrubbed, matched by content, replayed chunk by chunk.

`Recorder` collects complete exchanges and `save` writes them; `load` reads them back and `Player` answers from them.
The files are plain VCR cassettes too: see `turnproof.cassettes.vcr` for use with vcrpy and pytest-recording.
"""

from .cost import Estimate, check_budget, estimate_cost
from .format import FORMAT, Cassette, Interaction, Place, RecordedRequest, RecordedResponse
from .match import Mismatch, digest
from .record import Recorder
from .replay import Player
from .scrub import find_secret
from .store import cassette_path, load, overlaid, save

__all__ = [
    "FORMAT",
    "Cassette",
    "Estimate",
    "Interaction",
    "Mismatch",
    "Place",
    "Player",
    "RecordedRequest",
    "RecordedResponse",
    "Recorder",
    "cassette_path",
    "check_budget",
    "digest",
    "estimate_cost",
    "find_secret",
    "load",
    "overlaid",
    "save",
]
