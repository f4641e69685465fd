"""Recorded exchanges: one file a scenario, written scrubbed, matched by content, replayed chunk by chunk.

`Recorder` collects complete exchanges and `save` writes them; `load` reads them back and `Player` answers from them.
The files are plain VCR cassettes too: see `turnproof.cassettes.vcr` for use with vcrpy and pytest-recording.

Each name is imported when it is asked for: a run that is not replayed needs a digest and nothing else.
"""

from typing import TYPE_CHECKING

from ..._base.lazy import lazily

if TYPE_CHECKING:
    from ..._base.secrets import find_secret
    from .cost import Estimate, check_budget, estimate_cost
    from .match import Mismatch, digest
    from .model import FORMAT, Cassette, Interaction, Place, RecordedRequest, RecordedResponse
    from .record import Recorder
    from .replay import Player
    from .store import cassette_path, load, overlaid, save
else:  # a type checker that saw it would take any name
    __getattr__ = lazily(
        __name__,
        {
            "Cassette": "model",
            "cassette_path": "store",
            "check_budget": "cost",
            "digest": "match",
            "Estimate": "cost",
            "estimate_cost": "cost",
            "find_secret": "store",
            "FORMAT": "model",
            "Interaction": "model",
            "load": "store",
            "Mismatch": "match",
            "overlaid": "store",
            "Place": "model",
            "Player": "replay",
            "RecordedRequest": "model",
            "RecordedResponse": "model",
            "Recorder": "record",
            "save": "store",
        },
    )

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
