"""Whether the prompt fits, and whether the files it names can be had."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..counting import count
from .context import Context, refuse

_UNREACHABLE = (
    "Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI. Vertex AI "
    "respects robots.txt rules, so confirm the URL is allowed to be crawled. Status: URL_ROBOTED-ROBOTED_DENIED"
)
_MEDIA = (b"inlineData", b"inline_data", b"fileData", b"file_data")


def check(context: Context) -> Iterator[Refusal]:
    """The window, as far as a request for an answer is concerned; a count may be of anything."""
    if context.facts is None:
        return
    # Media aside, a token is at least a byte: most requests need not be counted at all.
    body = context.request.body
    limit = context.facts.context_tokens
    if context.cache is None and len(body) < limit and not any(kind in body for kind in _MEDIA):
        return
    tokens = count(context.call)
    if tokens > limit:
        message = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."
        yield refuse(rules.TOO_MANY_TOKENS, message, "contents")


def files(context: Context) -> Iterator[Refusal]:
    """Files that the service fetches itself must be within its reach."""
    for turn in context.turns:
        for placed in turn.parts:
            inside = placed.part.get("functionResponse", {}).get("parts", ())
            for part in (placed.part, *inside):
                uri = part.get("fileData", {}).get("fileUri")
                if uri in context.world.unreachable_urls:
                    yield _unreachable(context, str(uri), placed.path)


def _unreachable(context: Context, uri: str, path: str) -> Refusal:
    if context.vertex:
        return refuse(rules.UNREACHABLE_FILE, _UNREACHABLE, path)
    name = uri.rpartition("/")[2]
    message = f"You do not have permission to access the File {name} or it may not exist."
    return Refusal(rules.UNREACHABLE_FILE, 403, "PERMISSION_DENIED", message, f"$.{path}")
