"""What the endpoint is made of: what the Messages API has alike comes from there."""

from __future__ import annotations

from ..anthropic_messages.api import GARBAGE as GARBAGE
from ..anthropic_messages.api import LEGAL_NAME as LEGAL_NAME
from ..anthropic_messages.api import NOISE as NOISE
from ..anthropic_messages.api import SPELLINGS as SPELLINGS
from ..anthropic_messages.api import count as count
from ..anthropic_messages.api import split_stream as split_stream
from .cache import ZaiCache
from .compare import ALLOWED as ALLOWED
from .errors import KINDS as KINDS
from .errors import error_event as error_event
from .errors import error_meaning as error_meaning
from .errors import read_response as read_response
from .errors import render_refusal as render_refusal
from .models import MODELS as MODELS
from .parse import parse as parse
from .render import ZaiAnswer
from .render import render_extra as render_extra
from .rules import ALL as ALL
from .rules import NAME as NAME
from .validate import validate as validate

render = ZaiAnswer.rendered
new_cache = ZaiCache
