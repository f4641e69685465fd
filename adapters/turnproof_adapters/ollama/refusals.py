"""What the server says when it refuses. On the Anthropic-compatible route in Anthropic's envelope, elsewhere, and from
what stands in front of it, as `{"error": "text"}`.

The server (`NewError` of anthropic.go) gives each status its type; there is no `retry-after`.
"""

from __future__ import annotations

import re

from turnproof.errors import ProviderError

from .._errors import by_status, too_long
from ..anthropic.refusals import STATUS_OF_KIND, Refused
from ..anthropic.refusals import complaint as enveloped
from ..anthropic.wire import Failure

_TOO_LONG = (
    # Ollama's cloud, recorded.
    re.compile(r"prompt too long; exceeded max context length by \d+ tokens(?: \(ref: [^()]*\))?"),
    # The runner of a local server, which truncates unless it is told not to.
    re.compile(
        r"(?:the )?request(?: \((?P<requested>\d{1,15}) tokens\))? exceeds the available context size"
        r"(?: \((?P<limit>\d{1,15}) tokens\))?[,.] try increasing (?:it|the context size or enable context shift)"
    ),
)


def complaint(document: object) -> Failure | None:
    """What an error body says, in either form."""
    match document:
        case {"error": str(message)}:
            return Failure(None, message)
    return enveloped(document)


def refusal(refused: Refused) -> ProviderError:
    """The error for it: the status decides, and under status 200 the type."""
    status, text, kind = refused.status, refused.message, refused.kind
    meant = STATUS_OF_KIND.get(kind, 500) if status == 200 else status
    if meant == 400 and (full := too_long(text, _TOO_LONG, status=status, kind=kind)):
        return full
    return by_status(meant, text, kind=kind, wait=refused.wait, shown_status=status)
