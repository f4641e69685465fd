"""The exchange of a GitHub token for a session token, as one request, and what its refusals mean.

GitHub answers 401 to a token that it does not know, 403 to one whose holder has no Copilot, and 404 to one of an
application, or of a kind, that may not ask (NousResearch/hermes-agent#27836, aaamoon/copilot-gpt4-service#293). It does
so in JSON: a page of HTML under 404 is a proxy's, at an address where nothing is exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
import msgspec

from turnproof.errors import AuthenticationError, ProviderError

from ...openai import errors
from ...openai.wire import failure_of
from .tokens import Issued, decode


def exchange_token(http: httpx2.Client, url: str, github_token: str, headers: Mapping[str, str]) -> Issued:
    """A session token. Raises ProviderError for a refusal and ValueError for an answer that is none."""
    exchange_headers = {**headers, "Authorization": f"token {github_token}", "Accept": "application/json"}
    response = http.get(url, headers=exchange_headers)
    if response.status_code != 200:
        raise _refused(response, github_token)
    return decode(response.content)


def _refused(response: httpx2.Response, secret: str) -> ProviderError:
    try:
        body = msgspec.json.decode(response.content)
    except (ValueError, RecursionError):
        body = response.text
    # GitHub has no `error`: the words stand beside, or in the details that editors show.
    details = body.get("error_details") if isinstance(body, dict) else None
    failure = failure_of(details or body)
    status = response.status_code
    text = f"no Copilot token: {failure.text or f'HTTP status {status}'}"
    typed = errors.from_status(status, {"message": text, "code": failure.kind}, response.headers, secret)
    if status == 404 and isinstance(body, dict):
        return AuthenticationError(typed.message, status=status, kind=typed.kind)
    return typed
