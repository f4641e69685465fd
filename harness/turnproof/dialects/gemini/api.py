"""What the Gemini API is made of, each in its own file."""

from __future__ import annotations

from .compare import ALLOWED as ALLOWED
from .counting import GeminiCache
from .counting import count as count
from .errors import KINDS as KINDS
from .errors import error_event as error_event
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
from .writing import GARBAGE as GARBAGE
from .writing import NOISE as NOISE
from .writing import SPELLINGS as SPELLINGS

new_cache = GeminiCache
