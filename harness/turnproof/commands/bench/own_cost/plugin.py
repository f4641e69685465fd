"""What a test with a cassette takes beside the same test without: with our fixture, and with pytest-recording.

Each of many tests makes one request, which the first and only exchange of its cassette answers. CPU of the whole
process, less that of the same file of empty tests; each runs with its own plugin and no other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Self

from .exchanges import HEADERS, HOST, PATH, request, write
from .parts import Compared, FolderPart, Key
from .processes import run

_TESTS = 100

_EMPTY = """
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_it(n):
    pass
"""

_OURS = """
import http.client, pytest
from urllib.parse import urlsplit

@pytest.mark.parametrize("n", range({tests}))
def test_it(n, turnproof_cassette):
    replay = turnproof_cassette({cassette!r})
    address = urlsplit(replay.base_url)
    line = http.client.HTTPConnection(address.hostname, address.port)
    line.request("POST", address.path + {path!r}, {body!r}, dict({headers!r}, **{{"x-api-key": replay.api_key}}))
    assert line.getresponse().status == 200
    line.close()
"""

_THEIRS = """
import http.client, pytest

@pytest.mark.vcr
@pytest.mark.parametrize("n", range({tests}))
def test_it(n):
    line = http.client.HTTPSConnection({host!r})
    line.request("POST", {path!r}, {body!r}, {headers!r})
    assert line.getresponse().status == 200
    line.close()
"""

_PLUGINS = {"empty": (), "turnproof": ("turnproof.pytest_plugin",), "pytest-recording": ("pytest_recording.plugin",)}


class Plugin(FolderPart):
    """`test with a cassette` of both plugins."""

    unit = "ms"
    module = "pytest_recording"
    not_installed = "the pytest plugin was not measured: pytest-recording is not installed"
    ratios: Sequence[Compared] = (
        (
            "test with a cassette",
            ("test with a cassette", "turnproof"),
            ("test with a cassette", "pytest-recording"),
        ),
    )

    def __init__(self, tests: int = _TESTS) -> None:
        self._tests = tests

    def __enter__(self) -> Self:
        super().__enter__()
        folder = self.folder
        cassette = folder / "one.yaml"
        write(cassette, 1)
        body = json.dumps(json.loads(request(0).body))
        words = {"cassette": str(cassette), "path": PATH, "host": HOST, "headers": HEADERS, "body": body}
        for name, text in (("empty", _EMPTY), ("turnproof", _OURS), ("pytest-recording", _THEIRS)):
            own = folder / name
            own.mkdir()
            (own / "test_many.py").write_text(text.format(tests=self._tests, **words), "utf-8")
        # Theirs stand where each test looks for its own, and without what pytest-recording (0.14) cannot load.
        document = json.loads(cassette.read_text("utf-8"))
        del document["metadata"]
        theirs = folder / "pytest-recording" / "cassettes" / "test_many"
        theirs.mkdir(parents=True)
        for number in range(self._tests):
            (theirs / f"test_it[{number}].yaml").write_text(json.dumps(document), "utf-8")
        return self

    def round(self) -> Mapping[Key, float]:
        """Milliseconds of each, for a test."""
        cpu = {name: self._pytest(name) for name in _PLUGINS}
        return {
            ("test with a cassette", name): max(cpu[name] - cpu["empty"], 1e-6) / self._tests * 1e3
            for name in ("turnproof", "pytest-recording")
        }

    def _pytest(self, name: str) -> float:
        plugin_options = [word for plugin in _PLUGINS[name] for word in ("-p", plugin)]
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".", *plugin_options]
        return run(
            [*words, "test_many.py"],
            cwd=self.folder / name,
            env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        ).cpu
