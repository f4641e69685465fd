"""Secrets in text, plain or encoded: where they stand, and the text without them.

The forms of a secret are those in which programs write one by accident: plain, JSON-escaped (also as JSON in JSON),
URL-encoded, hexadecimal and base64 (both alphabets, at any alignment, so also inside a longer encoded string). A secret
of fewer than 8 characters is not looked for: it is everywhere.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, quote_plus

SHORTEST_SECRET = 8
NESTING = 3
"""How deep a text may sit in JSON texts within JSON texts: a body, in a cassette, in an event of a transcript."""

MASK = "[key]"
"""What stands in evidence in place of a secret."""

_URL_SAFE = str.maketrans("+/", "-_")


_SECRET_NAME = re.compile(
    r"(?:(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)_?KEY|TOKEN|SECRET|PAT)|(?:AI|ANTHROPIC|GEMINI)_KEY"
    r"|PASSWORD|PASSWD|PASSPHRASE)(?:_?[0-9]+)?$",
    re.IGNORECASE,
)
"""Several keys of one service are numbered."""


@lru_cache(maxsize=1024)  # an environment has the same names for every run
def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret: `..._API_KEY`, `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, ..."""
    return _SECRET_NAME.search(name) is not None


def environment_secrets() -> tuple[str, ...]:
    """The secrets in this process's environment: the values of all variables whose names say so."""
    return tuple(dict.fromkeys(value for name, value in os.environ.items() if is_secret_name(name) and value))


def secret_in(text: str | bytes, secrets: tuple[str, ...]) -> bool:
    """Whether any of the secrets stands in the text in any form. Quick where none does."""
    data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
    folded = data.lower()
    if not any(needle in folded for needle in _needles(secrets)):
        return False
    return bool(secret_spans(data.decode(errors="surrogateescape"), secrets))


def secret_spans(text: str, secrets: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where each secret in the text begins and ends, in any form, in order and without overlaps."""
    pattern, _ = _pattern(secrets)
    return [] if pattern is None else [found.span() for found in pattern.finditer(text)]


@lru_cache(maxsize=32)
def _needles(secrets: tuple[str, ...]) -> tuple[bytes, ...]:
    """Every form in lower case; of two of which one is in the other the shorter alone."""
    forms = {
        form.text.encode(errors="surrogateescape").lower()
        for secret in secrets
        if len(secret) >= SHORTEST_SECRET
        for form in _forms(secret)
    }
    return tuple(form for form in forms if not any(other != form and other in form for other in forms))


def find_secret(text: str, secrets: Iterable[str]) -> list[str]:
    """Which of the secrets stand in the text, plain or encoded, as phrases that do not repeat them."""
    found = []
    folded = text.casefold()
    for number, secret in enumerate(secrets, 1):
        for form in _forms(secret) if len(secret) >= SHORTEST_SECRET else ():
            where = folded.find(form.text.casefold()) if form.any_case else text.find(form.text)
            if where >= 0:
                found.append(f"secret {number} ({len(secret)} characters) {form.name} at character {where}")
                break
    return found


def mask(text: str, secrets: tuple[str, ...], begin: int = 0, end: int | None = None) -> str:
    """The text with every secret in it, plain or encoded, replaced by `MASK`; or a part of it, where one that begins
    or ends outside of the part is replaced as well.

    Of a secret inside a longer base64 text, the characters that it decides alone are replaced.
    """
    end = len(text) if end is None else end
    pattern, reach = _pattern(secrets)
    if pattern is None:
        return text[begin:end]
    out, at = list[str](), begin
    for found in pattern.finditer(text, max(0, begin - reach), end + reach):
        if found.end() > begin and found.start() < end:
            out += [text[at : found.start()], MASK]
            at = found.end()
    return "".join([*out, text[at:end]])


@lru_cache(maxsize=32)
def _pattern(secrets: tuple[str, ...]) -> tuple[re.Pattern[str] | None, int]:
    """What finds any form of any of them, and the length of the longest form."""
    forms = {
        (form.text, form.any_case) for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)
    }
    # Longest first: a form may begin with a shorter one.
    ordered = sorted(forms, key=lambda form: (-len(form[0]), form))
    if not ordered:
        return None, 0
    parts = (f"(?i:{re.escape(text)})" if any_case else re.escape(text) for text, any_case in ordered)
    return re.compile("|".join(parts)), len(ordered[0][0])


class _Form(NamedTuple):
    name: str
    text: str
    any_case: bool = False
    """Whether the encoding itself may be written in upper or lower case."""


def _forms(secret: str) -> Iterator[_Form]:
    data = secret.encode(errors="surrogateescape")  # an environment may hold any bytes
    yield _Form("in plain text", secret)
    for ascii_only in (True, False):
        escaped = secret
        for _ in range(NESTING):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield _Form("JSON-escaped", escaped, any_case=True)
    yield _Form("URL-encoded", quote(secret, safe="", errors="surrogateescape"), any_case=True)
    yield _Form("URL-encoded", quote_plus(secret, errors="surrogateescape"), any_case=True)
    yield _Form("in hexadecimal", data.hex(), any_case=True)
    for shift in range(3):
        inner = _inner_base64(data, shift)
        yield _Form("in base64", inner)
        yield _Form("in base64", inner.translate(_URL_SAFE))


def _inner_base64(data: bytes, shift: int) -> str:
    """The characters that `data` alone decides in a base64 text where it begins `shift` bytes into a group of three."""
    first = -(-shift * 8 // 6)
    last = (shift + len(data)) * 8 // 6
    return b64encode(bytes(shift) + data).decode()[first:last]
