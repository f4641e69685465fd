"""Cassettes on disk: found by adapter and scenario, written all or nothing, never with a secret in them."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from turnproof.errors import CassetteError, UsageError
from turnproof.wire.cassettes import cassette_path, find_secret, load, overlaid, save

from .kit import bodies, conversation, pocket_request, record, recorder

SECRET = "sk-ant-api03-Zm9/b+=ä-1234567890"


def test_saved_and_loaded_is_the_same_cassette(tmp_path: Path) -> None:
    path = cassette_path(tmp_path, "pocket", "small-talk")
    save(conversation(3), path)
    assert path == tmp_path / "pocket" / "small-talk.yaml"
    assert load(path) == conversation(3)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_overlay_lies_beside_its_cassette(tmp_path: Path) -> None:
    assert cassette_path(tmp_path, "pocket", "a", overlay="legacy") == tmp_path / "pocket" / "a.legacy.yaml"


@pytest.mark.parametrize(("adapter", "scenario"), [("..", "a"), ("a", "../b"), ("a", ""), ("a/b", "c"), (".a", "b")])
def test_a_name_cannot_lead_out_of_the_folder(adapter: str, scenario: str) -> None:
    with pytest.raises(CassetteError, match="cannot be a part of a cassette's path"):
        cassette_path("root", adapter, scenario)


def test_a_missing_cassette_is_named_with_the_command_that_records_it(tmp_path: Path) -> None:
    path = cassette_path(tmp_path, "anthropic", "two-tools")
    with pytest.raises(CassetteError) as failure:
        load(path)
    expected = f"{path}: there is no such cassette. Record it: turnproof record anthropic --only two-tools"
    assert str(failure.value) == expected


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("collection/anthropic/tools/one.yaml", "turnproof record anthropic --only tools/one"),
        ("collection/anthropic/tools/one.legacy.yaml", "turnproof record anthropic --only tools/one"),
        ("collection/loose.yaml", "turnproof record collection --only loose"),
        ("elsewhere/pocket/small-talk.yaml", "turnproof record pocket --only small-talk"),
    ],
)
def test_the_command_is_read_off_the_path(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "collection").mkdir()
    (tmp_path / "collection" / "__init__.py").touch()
    with pytest.raises(CassetteError) as failure:
        load(tmp_path / path)
    assert str(failure.value).endswith(f"Record it: {words}")


def test_a_lone_file_name_and_a_given_command_are_taken_as_they_are() -> None:
    with pytest.raises(CassetteError, match="Record it: turnproof record ADAPTER --only nowhere"):
        load("nowhere.yaml")
    with pytest.raises(CassetteError, match="Record it: make tapes"):
        load("nowhere.yaml", remedy="make tapes")


def test_a_folder_in_place_of_a_cassette_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        load(tmp_path)


def test_a_failed_write_leaves_the_old_cassette_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    save(conversation(1), path)

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="no space"):
        save(conversation(2), path)
    assert load(path) == conversation(1)
    assert list(tmp_path.iterdir()) == [path]


def test_an_overlay_replaces_what_was_recorded_at_its_places() -> None:
    recording = recorder()
    record(recording, pocket_request("one, the legacy way"), b'"new"', at=(1, 0))
    both = overlaid(conversation(3), recording.cassette())
    assert bodies(both.interactions) == [b'"000000"', b'"new"', b'"000002"']


def test_an_overlay_of_another_scenario_is_refused() -> None:
    with pytest.raises(CassetteError, match="does not fit"):
        overlaid(conversation(1), recorder("other").cassette())


FORMS = {
    "in plain text": SECRET,
    "JSON-escaped": SECRET.replace("ä", "\\u00e4"),
    "URL-encoded": quote(SECRET, safe=""),
    "in hexadecimal": SECRET.encode().hex().upper(),
    "in base64": base64.b64encode(SECRET.encode()).decode(),
}


@pytest.mark.parametrize(("form", "text"), FORMS.items(), ids=FORMS)
def test_a_secret_is_found_in_any_common_encoding(form: str, text: str) -> None:
    [found] = find_secret(f"nothing here {text} and on", ["another-secret", SECRET])
    assert found == f"secret 2 ({len(SECRET)} characters) {form} at character {13}"
    assert SECRET not in found


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode], ids=["standard", "url-safe"])
def test_a_secret_is_found_inside_a_longer_base64_text(before: int, encode: object) -> None:
    text = encode(b"u" * before + SECRET.encode() + b":tail").decode()  # type: ignore[operator]
    assert find_secret(text, [SECRET]) != []


def test_text_without_the_secret_is_clean_and_short_secrets_are_not_looked_for() -> None:
    assert find_secret("an innocent text with key and test", [SECRET, "key", "test", ""]) == []


@pytest.mark.parametrize("where", ["request", "response"])
def test_a_recording_that_contains_a_secret_is_not_written(tmp_path: Path, where: str) -> None:
    recording = recorder()
    request = pocket_request(f"my key is {SECRET}" if where == "request" else "hi")
    record(recording, request, f'"{SECRET if where == "response" else "hi"}"'.encode())
    path = tmp_path / "leak.yaml"
    with pytest.raises(CassetteError, match="not written, the recording contains secret 1") as failure:
        save(recording.cassette(), path, secrets=[SECRET])
    assert SECRET not in str(failure.value)
    assert list(tmp_path.iterdir()) == []
