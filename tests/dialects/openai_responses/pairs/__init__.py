"""Every refusal of the Responses API as a pair: the smallest illegal request, and its nearest legal neighbour.

Data only, so that the same table judges the dialect alone and the emulator behind a real socket. A pair whose rule is
only inferred (`enforced=False`) must be logged, and accepted.
"""

from ..asks import Pair
from . import conversation, requests, stored

PAIRS: tuple[Pair, ...] = (*requests.PAIRS, *conversation.PAIRS, *stored.PAIRS)
