"""What the gateway is made of: what the Gemini API has alike comes from there."""

from __future__ import annotations

from collections.abc import Mapping

from ..gemini.api import GARBAGE as GARBAGE
from ..gemini.api import NOISE as NOISE
from ..gemini.api import count as count
from ..gemini.api import error_event as error_event
from ..gemini.api import new_cache as new_cache
from ..sse import Spelling
from .compare import ALLOWED as ALLOWED
from .errors import KINDS as KINDS
from .errors import error_meaning as error_meaning
from .errors import render_refusal as render_refusal
from .extras import render_extra as render_extra
from .models import LEGAL_NAME as LEGAL_NAME
from .models import MODELS as MODELS
from .parse import parse as parse
from .read import read_response as read_response
from .read import split_stream as split_stream
from .render import render as render
from .rules import ALL as ALL
from .rules import NAME as NAME
from .validate import validate as validate

SPELLINGS: Mapping[Spelling, str] = {
    "lf": "antigravity.md §3: clients meet both line ends; gemini-cli takes either",
    "padded": "JSON allows blanks anywhere between its tokens; gemini-cli strips those around it",
    "joined": "the API gives a chunk any number of parts (defects:ST16); gemini-cli takes them all",
}
