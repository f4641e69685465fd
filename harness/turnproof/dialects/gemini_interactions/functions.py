"""The Interactions API's functions, each in its own file."""

from __future__ import annotations

from .counting import InteractionsCache
from .counting import count as count
from .errors import error_event as error_event
from .errors import error_meaning as error_meaning
from .errors import render_refusal as render_refusal
from .extras import render_extra as render_extra
from .framing import split_stream as split_stream
from .parse import parse as parse
from .read import read_response as read_response
from .render import render as render
from .validate import validate as validate

new_cache = InteractionsCache
