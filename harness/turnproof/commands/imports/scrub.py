"""Secrets in recorded traffic: what is masked before anything of it is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from ..._base.secrets import MASK, environment_secrets, is_secret_name, mask, secret_spans
from .exchanges import RecordedExchange, Traffic

_AUTH_HEADERS: Final = ("authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie")
_AUTH_PARAMETERS: Final = ("key", "api_key", "access_token", "token")
_SHORTEST: Final = 16
"""What is shorter in a header is what a recorder wrote in the place of the key (`REDACTED`), and no secret."""
_KNOWN_FORMS: Final = {
    "an OpenAI or Anthropic key": re.compile(r"(?<![\w-])sk-[A-Za-z0-9_-]{20,}"),
    "a Google key": re.compile(r"(?<![\w-])AIza[A-Za-z0-9_-]{35}"),
    "a Google token": re.compile(r"(?<![\w-])ya29\.[A-Za-z0-9_-]{20,}"),
    "a GitHub token": re.compile(r"(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    "an AWS key id": re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    "a Slack token": re.compile(r"(?<![\w-])xox[abprs]-[A-Za-z0-9-]{10,}"),
    "a JSON Web Token": re.compile(r"(?<![\w-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
}
"""Forms of keys that many services use; none of them is a word that a model says."""


@dataclass(slots=True)
class Scrubber:
    """Masks secrets in the texts of scenario data, and counts them by kind.

    Known secrets are those in the headers and addresses of the traffic, those in this environment, and `more` that
    the user names. Besides, whatever looks like a key of a well-known service is masked.
    """

    traffic: Iterable[Traffic]
    more: tuple[str, ...] = ()
    found: Counter[str] = field(default_factory=Counter)
    _known: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        in_traffic = dict.fromkeys(
            secret for one in self.traffic for secret in _sent_secrets(one) if len(secret) >= _SHORTEST
        )
        self._known = (
            ("a key of the recorded requests", tuple(in_traffic)),
            ("a secret of this environment", environment_secrets()),
            ("a text given with --mask", self.more),
        )

    def clean(self, value: Any) -> Any:
        """The value with every secret in its texts masked."""
        match value:
            case str():
                return self._clean_text(value)
            case list():
                return [self.clean(item) for item in value]
            case dict():
                return {self._clean_text(key): self.clean(item) for key, item in value.items()}
            case _:
                return value

    def _clean_text(self, text: str) -> str:
        for kind, secrets in self._known:
            if spans := secret_spans(text, secrets):
                self.found[kind] += len(spans)
                text = mask(text, secrets)
        for kind, form in _KNOWN_FORMS.items():
            text, number = form.subn(MASK, text)
            self.found[kind] += number
        return text


def _sent_secrets(one: Traffic) -> Iterator[str]:
    if not isinstance(one, RecordedExchange):
        return
    for name, value in one.request_headers.items():
        if name in _AUTH_HEADERS or is_secret_name(name.replace("-", "_")):
            yield value
            yield value.rpartition(" ")[2]
    yield from (value for name, value in parse_qsl(urlsplit(one.url).query) if name in _AUTH_PARAMETERS)
