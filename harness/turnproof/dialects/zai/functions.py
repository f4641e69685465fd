"""The endpoint's functions: those that the Messages API has alike come from there."""

from __future__ import annotations

from ..anthropic_messages.functions import count as count
from ..anthropic_messages.functions import split_stream as split_stream
from .cache import ZaiCache
from .errors import error_event as error_event
from .errors import error_meaning as error_meaning
from .errors import read_response as read_response
from .errors import render_refusal as render_refusal
from .parse import parse as parse
from .render import ZaiAnswer
from .render import render_extra as render_extra
from .validate import validate as validate

render = ZaiAnswer.rendered
new_cache = ZaiCache
