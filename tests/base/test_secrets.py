"""Secrets are found in the forms in which programs write one by accident, and only where they are."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from turnproof._base.secrets import environment_secrets, is_secret_name, mask, secret_in, secret_spans

SECRET = "s3cr+t/käse-ÜÄ?tail"
SECRETS = (SECRET, "another-one-42")

FORMS = {
    "plain": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON in capitals": json.dumps(SECRET)[1:-1].replace("\\u00e4", "\\u00E4"),
    "JSON in JSON": json.dumps(json.dumps(SECRET)),
    "URL-encoded": quote(SECRET, safe=""),
    "URL-encoded in small letters": quote(SECRET, safe="").lower().replace("s3cr", "s3cr"),
    "hexadecimal": SECRET.encode().hex().upper(),
    "base64": b64encode(SECRET.encode()).decode(),
    "base64 behind a name": b64encode(f"user:{SECRET}".encode()).decode(),
    "base64 for addresses": urlsafe_b64encode(f"u:{SECRET}:x".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_and_masked_as_text_and_as_bytes(form: str) -> None:
    text = f"before {FORMS[form]} behind"
    assert secret_in(text, SECRETS)
    assert secret_in(text.encode(), SECRETS)
    assert [text[first:last] for first, last in secret_spans(text, SECRETS)]
    assert not secret_in(mask(text, SECRETS), SECRETS)
    assert mask(text, SECRETS).startswith("before ")


@pytest.mark.parametrize("text", ["", "s3cr+t/käse", SECRET[:-1], "[key]"])
def test_what_is_no_secret_is_none(text: str) -> None:
    assert not secret_in(text, SECRETS)
    assert mask(text, SECRETS) == text


def test_no_secret_and_a_short_one_are_looked_for_nowhere() -> None:
    assert not secret_in("abc", ())
    assert not secret_in("true", ("true",))


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("ANTHROPIC_API_KEY", True),
        ("GITHUB_TOKEN", True),
        ("GOOGLE_CLOUD_ACCESS_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("TOKEN", True),
        ("npm_config_password", True),
        ("OPENAI_API_KEY_2", True),
        ("AZURE_OPENAI_KEY", True),
        ("PGPASSWORD", True),
        ("GITHUB_PAT", True),
        ("DEPLOY_PASSPHRASE", True),
        ("PAT", True),
        ("COMPAT", False),
        ("CACHE_KEY", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", False),
        ("MAX_TOKENS", False),
        ("KEYBOARD", False),
        ("MONKEY", False),
        ("PATH", False),
    ],
)
def test_a_variable_says_by_its_name_that_it_holds_a_secret(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_secrets_of_the_environment_are_the_values_of_such_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-of-mine-0001")
    monkeypatch.setenv("SOME_API_KEY", "")
    assert "ghp-of-mine-0001" in environment_secrets()
    assert "" not in environment_secrets()
