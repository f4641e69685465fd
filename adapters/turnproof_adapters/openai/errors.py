"""Every way a service can refuse or fail, as one of turnproof's typed errors, whoever's client told of it.

The service's own code decides, then the status. Words decide only where a service gives no code (a prompt that is too
long is an `invalid_request_error` like any other), and then only whole sentences known from recordings, public issues
and servers' sources: a refusal that merely mentions tokens or a maximum is not a full context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from turnproof.errors import ContentFilterError, ContextLimitError, ProviderError, RateLimitError

from .._errors import Secret, by_status, hide_secret, retry_after, too_long
from .wire import Failure, failure_of

_NUMBER = r"\d{1,15}"
_MOST = rf"This model's maximum context length is (?P<limit>{_NUMBER}) tokens\. However, "
_TOO_LONG = (
    # OpenAI, Azure, DeepSeek; vLLM says "your request has", and two more sentences
    re.compile(
        rf"{_MOST}(?:your messages resulted in|you requested(?: about)?|your request has) (?P<requested>{_NUMBER})"
        r" (?:input )?tokens\b.*",
        re.DOTALL,
    ),
    re.compile(
        rf"{_MOST}you requested {_NUMBER} output tokens and your prompt contains (?:at least )?{_NUMBER} input tokens, "
        rf"for a total of (?:at least )?(?P<requested>{_NUMBER}) tokens\b.*",
        re.DOTALL,
    ),
    # OpenAI's Responses API, also at Copilot, which has one code for whatever is wrong with a body
    re.compile(r"Your input exceeds the context window of this model\. Please adjust your input and try again\."),
    # OpenAI, as a rate limit: a request that is larger than a whole minute's never gets through
    re.compile(
        rf"Request too large for .{{1,200}} on tokens per min \(TPM\): Limit (?P<limit>{_NUMBER}), Requested "
        rf"(?P<requested>{_NUMBER})\. The input or output tokens must be reduced in order to run successfully\..*",
        re.DOTALL,
    ),
    # Copilot, GitHub Models, Z.ai
    re.compile(rf"prompt token count of (?P<requested>{_NUMBER}) exceeds the limit of (?P<limit>{_NUMBER})\.?"),
    re.compile(rf"Request body too large for \S+ model\. Max size: (?P<limit>{_NUMBER}) tokens\."),
    re.compile(r"Prompt exceeds max length"),
    # llama.cpp, and what runs on it
    re.compile(
        rf"(?:the )?request (?:\((?P<requested>{_NUMBER}) tokens\) )?exceeds the available context size"
        rf"(?: \((?P<limit>{_NUMBER}) tokens\))?.*",
        re.DOTALL,
    ),
)
_CONTEXT = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "model_max_prompt_tokens_exceeded",
        "tokens_limit_reached",
        "1261",
    }
)
_FILTERED = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "1301",
        # Of responses that failed (`openai` 3.54, `ResponseError`).
        "invalid_prompt",
        "image_content_policy_violation",
        "bio_policy",
        "misalignment_policy_violation",
    }
)
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded", "1113", "1304", "1308", "1310"}
)
"""Limits that are not back after a while: what was bought, or the day's and the week's."""

_STATUS_OF_KIND: Mapping[str, int] = {
    "invalid_request_error": 400,
    "BadRequestError": 400,
    "1210": 400,
    "1211": 400,
    "1213": 400,
    "1214": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "unauthorized": 401,
    "1000": 401,
    "1001": 401,
    "1002": 401,
    "permission_denied": 403,
    "permission_error": 403,
    "model_not_found": 404,
    "not_found_error": 404,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "RateLimitReached": 429,
    "tokens": 429,
    "requests": 429,
    "1302": 429,
    "1303": 429,
    # Azure's and GitHub Models' own, and Copilot's (some of which name the plan behind a colon).
    "BadRequest": 400,
    "unknown_model": 404,
    "bad_request": 400,
    "invalid_request_body": 400,
    "model_not_supported": 400,
    "unsupported_api_for_model": 400,
    "forbidden": 403,
    "agent_mode_limit_exceeded": 429,
    "integration_rate_limited": 429,
    "user_global_rate_limited": 429,
    "user_model_rate_limited": 429,
    # Of responses that failed for what was asked (`openai` 3.54, `ResponseError`).
    **dict.fromkeys(
        (
            "data_residency_mismatch",
            "empty_image_file",
            "failed_to_download_image",
            "image_file_not_found",
            "image_file_too_large",
            "image_parse_error",
            "image_too_large",
            "image_too_small",
            "invalid_base64_image",
            "invalid_image",
            "invalid_image_format",
            "invalid_image_mode",
            "invalid_image_url",
            "unsupported_image_media_type",
        ),
        400,
    ),
}
"""Which status a code or type goes with: a failure told in an answer's place comes under status 200. A code may be a
status itself; all others are the service's own trouble, like everything under a 5xx."""


def from_status(status: int, body: object, headers: Mapping[str, str], secret: Secret) -> ProviderError:
    """The typed error for an answer of this status whose body, or whose `error`, is this plain data. `secret`, the key,
    never shows in it."""
    typed = _typed(status, failure_of(body), retry_after(headers), secret, shown_status=status)
    advice = headers.get("x-should-retry")
    if advice in ("true", "false"):
        typed.retryable = advice == "true"
    return typed


def from_failure(failure: Failure, secret: Secret) -> ProviderError:
    """The typed error for a failure told in an answer's place, or inside a stream. It shows the status that it came
    under, which was 200."""
    kind = failure.kind or ""
    status = _STATUS_OF_KIND.get(kind.partition(":")[0]) or (int(kind) if re.fullmatch(r"[45]\d\d", kind) else 500)
    return _typed(status, failure, None, secret, shown_status=200)


def _typed(status: int, failure: Failure, wait: float | None, secret: Secret, *, shown_status: int) -> ProviderError:
    kind = hide_secret(failure.kind, secret) if failure.kind else None
    text = hide_secret(failure.text or kind or f"HTTP status {shown_status}", secret)
    if kind in _QUOTA_CODES:
        error = RateLimitError(text, status=shown_status, kind=kind, retry_after=wait)
        error.retryable = False
        return error
    if kind in _FILTERED:
        return ContentFilterError(text, status=shown_status, kind=kind)
    if kind in _CONTEXT or status in (400, 429):
        full = too_long(text, _TOO_LONG, status=shown_status, kind=kind)
        if full is not None or kind in _CONTEXT:
            return full or ContextLimitError(text, status=shown_status, kind=kind)
    return by_status(status, text, kind=kind, wait=wait, shown_status=shown_status)
