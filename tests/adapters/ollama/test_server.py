"""Where the server is, and what it says of its models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof_adapters.ollama.lifecycle import address_of_environment
from turnproof_adapters.ollama.models import model, same_model
from turnproof_adapters.ollama.server import names, window_in_use, window_of


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (None, None),
        ("", None),
        (" ", None),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        (":56789", "http://127.0.0.1:56789"),
        ("1.2.3.4:56789", "http://1.2.3.4:56789"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("https://ollama.com", "https://ollama.com:443"),
        ("https://1.2.3.4:56789/", "https://1.2.3.4:56789"),
        ("example.com/path/", "http://example.com:11434/path"),
        ("https://example.com:56789/some/path", "https://example.com:56789/some/path"),
        ("[::1]", "http://[::1]:11434"),
        ("http://[::1]:56789", "http://[::1]:56789"),
    ],
)
def test_the_variable_is_read_as_ollamas_own_client_reads_it(
    value: str | None, address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    if value is not None:
        monkeypatch.setenv("OLLAMA_HOST", value)
    assert address_of_environment() == address


def test_a_port_that_is_none_is_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "example.com:port")
    with pytest.raises(ValueError, match=r"[Pp]ort"):
        address_of_environment()


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


QWEN = {"name": "qwen3:8b", "model": "qwen3:8b", "size": 5_200_000_000, "details": {"family": "qwen3"}}


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ({"models": [QWEN, {"name": "llama3.2:latest"}]}, ["qwen3:8b", "llama3.2:latest"]),
        ({"models": []}, []),
        ({"models": None}, []),
        ({}, []),
    ],
)
def test_models_are_listed_by_their_names(listing: Any, expected: list[str]) -> None:
    assert names(encoded(listing)) == expected


@pytest.mark.parametrize("body", [b"", b"[]", b'{"models": [7]}', b"Ollama is running"])
def test_what_is_no_listing_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        names(body)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("qwen3:8b", 8192), ("llama3.2", 4096), ("llama3.2:latest", 4096), ("old", None), ("odd", None), ("no", None)],
)
def test_a_model_that_is_loaded_has_the_window_that_it_is_loaded_with(name: str, expected: int | None) -> None:
    running = [
        {**QWEN, "context_length": 8192},
        {"name": "llama3.2:latest", "context_length": 4096},
        {"name": "old"},
        {"name": "odd", "context_length": 0},
    ]
    assert window_in_use(encoded({"models": running}), name) == expected


INFO = {"general.architecture": "qwen3", "qwen3.context_length": 40_960, "llama.context_length": 7}


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        ({"model_info": INFO}, 40_960),
        ({"model_info": INFO, "parameters": "temperature                    0.6"}, 40_960),
        ({"model_info": INFO, "parameters": "num_ctx    8192\ntemperature    0.6"}, 8192),
        ({"model_info": INFO, "parameters": 'stop    "<|im_end|>"\nnum_ctx    131072'}, 40_960),
        ({"model_info": INFO, "parameters": "num_ctx    many"}, 40_960),
        ({"model_info": INFO, "parameters": "num_ctx_max    8192"}, 40_960),
        ({"parameters": "num_ctx    8192"}, 8192),
        ({"model_info": {"general.architecture": "qwen3", "qwen3.context_length": True}}, 0),
        ({"model_info": {"qwen3.context_length": 40_960}}, 0),
        ({"model_info": None, "parameters": None}, 0),
        ({}, 0),
    ],
    ids=str,
)
def test_the_window_is_that_of_the_architecture_or_the_smaller_one_asked_for(shown: Any, window: int) -> None:
    assert window_of(encoded(shown)) == window


@pytest.mark.parametrize(
    ("name", "thinks", "calls", "sees"),
    [
        ("qwen3:8b", True, True, False),
        ("qwen3", True, True, False),
        ("qwen3:latest", True, True, False),
        ("gpt-oss:20b", True, True, False),
        ("llama3.2", False, True, False),
        ("llama3", False, False, False),
        ("gemma3:4b", False, False, True),
        ("gemma3:1b", False, False, False),
        ("granite3.2-vision", False, True, True),
        ("somebody/else:7b", True, True, False),
        (None, True, True, False),
    ],
)
def test_the_label_of_a_family_tells_what_is_claimed(name: str | None, thinks: bool, calls: bool, sees: bool) -> None:
    facts = model(name)
    assert (facts.thinks, facts.calls, facts.sees) == (thinks, calls, sees)


def test_the_tag_latest_may_be_left_out() -> None:
    assert same_model("qwen3", "qwen3:latest")
    assert same_model("qwen3:8b", "qwen3:8b")
    assert not same_model("qwen3", "qwen3:8b")
