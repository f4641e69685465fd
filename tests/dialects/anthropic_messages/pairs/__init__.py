"""Every refusal of the Messages API as a pair: the smallest illegal request, and its nearest legal neighbour.

Data only, so that the same table judges the dialect alone and the emulator behind a real SDK. A pair whose rule is
only inferred (`enforced=False`) must be logged, and accepted.
"""

from ..asks import Pair
from . import conversation, requests, settings

PAIRS: tuple[Pair, ...] = (*requests.PAIRS, *settings.PAIRS, *conversation.PAIRS)
