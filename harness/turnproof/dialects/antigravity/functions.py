"""The gateway's functions: those that the Gemini API has alike come from there."""

from __future__ import annotations

from ..gemini.functions import count as count
from ..gemini.functions import error_event as error_event
from ..gemini.functions import new_cache as new_cache
from .errors import error_meaning as error_meaning
from .errors import render_refusal as render_refusal
from .extras import render_extra as render_extra
from .parse import parse as parse
from .read import read_response as read_response
from .read import split_stream as split_stream
from .render import render as render
from .validate import validate as validate
