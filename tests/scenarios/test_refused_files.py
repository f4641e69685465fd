"""Every mistake in a file as a whole is refused with the file, the spot, its line and the reason.

A table, because that is what an author needs: this text, this place, these words. A mistake that passes would be
blamed on an adapter later.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest

from turnproof.errors import ScenarioError, UsageError
from turnproof.scenarios import load, load_all

from .bad import Bad, check_refused, file

YAML = [
    file("empty", "", "$", "is empty"),
    file("only-comments", "# nothing\n", "$", "is empty"),
    file("not-yaml", "title: a: b\n", "$", "line 1: is not YAML: mapping values are not allowed"),
    file("open-bracket", "title: [1\n", "$", "is not YAML"),
    file("control-character", "title: \0", "$", "is not YAML: unacceptable character"),
    file("half-a-surrogate", r'title: "\ud83d"', "$", "is not YAML"),
    file("second-document", "title: A\n---\ntitle: B\n", "$", "line 2: a second document starts here"),
    file(
        "duplicate-key",
        "title: A\nturns: []\ntitle: B\n",
        "$.title",
        "line 3: the key 'title' stands here twice, first on line 1",
    ),
    file("deep-duplicate-key", "a: {b: {c: 1, c: 2}}", "$.a.b.c", "stands here twice"),
    file("anchor", "title: &t A\n", "$.title", "anchors and aliases are not allowed"),
    file("alias", "title: A\nsystem: *t\n", "$.system", "anchors and aliases are not allowed"),
    file("alias-bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "$.a", "anchors and aliases are not allowed"),
    file("endless-alias", "a: &a [*a]\n", "$.a", "anchors and aliases are not allowed"),
    file("merge-key", "<<: {title: A}\n", "$", "merge keys are not allowed"),
    file("list-as-key", "? [a]\n: 1\n", "$", "keys must be plain words"),
    file("code-tag", "title: !!python/object/apply:os.system [true]\n", "$.title", "is not allowed"),
    file("own-tag", "title: !secret A\n", "$.title", "the tag '!secret' is not allowed"),
    file("deep-nesting", "a: " + "[" * 500, "$.a" + "[0]" * 30, "nested deeper than 30 levels"),
]

WHOLE = [
    file("a-list", "- title: A\n", "$", "expected a scenario, found a list of 1"),
    file("no-title", "turns: []\n", "$", "a scenario needs 'title'"),
    file("no-turns", "title: A\n", "$", "a scenario needs 'turns'"),
    file("empty-turns", "title: A\nturns: []\n", "$.turns", "nobody says anything"),
    file("unknown-key", "title: A\ntruns: []\n", "$.truns", "line 2: unknown key 'truns'; did you mean 'turns'?"),
    file("unknown-key-far-off", "title: A\nzzz: 1\nturns: []\n", "$.zzz", "unknown key 'zzz'; one of name, title"),
    file("number-as-title", "title: 7\nturns: []\n", "$.title", "expected a title, found the number 7"),
    file("another-name", "name: other/name\ntitle: A\nturns: []\n", "$.name", "named after its file"),
    file(
        "unknown-depth",
        "title: A\ndepth: quik\nturns: [{user: a, model: b}]\n",
        "$.depth",
        "unknown word 'quik'; did you mean 'quick'?",
    ),
    file(
        "unknown-mode",
        "title: A\nmodes: [strem]\nturns: [{user: a, model: b}]\n",
        "$.modes[0]",
        "did you mean 'stream'?",
    ),
    file("no-mode", "title: A\nmodes: []\nturns: [{user: a, model: b}]\n", "$.modes", "at least one mode"),
    file("mode-twice", "title: A\nmodes: [stream, stream]\nturns: [{user: a, model: b}]\n", "$.modes[1]", "twice"),
    file(
        "unknown-feature",
        "title: A\nfeatures: [tols]\nturns: [{user: a, model: b}]\n",
        "$.features[0]",
        "did you mean 'tools'?",
    ),
    file(
        "kind-of-feature",
        "title: A\nfeatures: ['tools:big']\nturns: [{user: a, model: b}]\n",
        "$.features[0]",
        "only 'cache' and 'wire' come in kinds",
    ),
    file(
        "kind-of-cache",
        "title: A\nfeatures: ['cache:explicid']\nturns: [{user: a, model: b}]\n",
        "$.features[0]",
        "did you mean 'explicit'?",
    ),
    file(
        "unknown-option",
        "title: A\noptions: {max_token: 5}\nturns: [{user: a, model: b}]\n",
        "$.options.max_token",
        "did you mean 'max_tokens'?",
    ),
    file(
        "odd-thinking",
        "title: A\noptions: {thinking: {}}\nturns: [{user: a, model: b}]\n",
        "$.options.thinking",
        "budget_tokens",
    ),
    file(
        "keep-nothing", "title: A\nkeep_turns: 0\nturns: [{user: a, model: b}]\n", "$.keep_turns", "must be 1 or more"
    ),
    file(
        "cache-as-word", "title: A\ncache: 'true'\nturns: [{user: a, model: b}]\n", "$.cache", "expected true or false"
    ),
    file("tool-without-name", "title: A\ntools: [{description: a}]\nturns: []\n", "$.tools[0]", "a tool needs 'name'"),
    file("tool-twice", "title: A\ntools: [{name: a}, {name: a}]\nturns: []\n", "$.tools[1].name", "declared twice"),
    file(
        "tool-unknown-key",
        "title: A\ntools: [{name: a, descripton: b}]\nturns: []\n",
        "$.tools[0].descripton",
        "did you mean 'description'?",
    ),
    file(
        "tool-two-schemas",
        "title: A\ntools: [{name: a, takes: {}, parameters: {}}]\nturns: []\n",
        "$.tools[0].takes",
        "give one of them",
    ),
    file(
        "tool-bad-type",
        "title: A\ntools: [{name: a, takes: {bed: sting}}]\nturns: []\n",
        "$.tools[0].takes.bed",
        "did you mean 'string'?",
    ),
    file(
        "result-nobody-asks-for",
        "title: A\nresults: {reed: 1}\nturns: [{user: a, model: b}]\n",
        "$.results.reed",
        "no turn",
    ),
    file(
        "too-long-a-text",
        "title: A\nsystem: {repeat: abcde, times: 1000000}\nturns: [{user: a, model: b}]\n",
        "$.system",
        "5,000,000 characters",
    ),
    file(
        "repeat-without-times",
        "title: A\nsystem: {repeat: abc}\nturns: [{user: a, model: b}]\n",
        "$.system",
        "needs 'times'",
    ),
    file(
        "too-many-turns",
        "title: A\nturns: [{user: a, model: b, times: 100000}]\n",
        "$.turns[0].times",
        "out of range: 1 to 1000",
    ),
    file(
        "batch-of-events",
        "title: A\nmodes: [batch]\nturns: [{user: a, model: b, cancel: {after: 'text:1'}}]\n",
        "$.modes",
        "turn 0 can only be streamed",
    ),
    file(
        "batch-of-garbage",
        "title: A\nmodes: [stream, batch]\nturns: [{user: a, model: b, faults: {kind: garbage}}]\n",
        "$.modes",
        "acts on the events of a stream",
    ),
]


@pytest.mark.parametrize("bad", YAML + WHOLE, ids=attrgetter("id"))
def test_a_mistake_is_refused_with_its_place_and_reason(bad: Bad, tmp_path: Path) -> None:
    check_refused(bad, tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        load(tmp_path / "absent.yaml")


def test_a_file_that_is_not_utf8_is_refused_with_its_byte(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"title: caf\xe9\n")
    with pytest.raises(ScenarioError, match="is not UTF-8: byte 10 is 0xe9"):
        load(tmp_path / "bad.yaml")


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("# " + "x" * 1_000_001)
    with pytest.raises(ScenarioError, match=r"larger than 1,000,000 bytes"):
        load(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ((), r"holds no scenario"),
        (("a/one.yml",), r"scenario files end in \.yaml"),
        (("a/one.yaml", "a/two.yaml"), r"two\.yaml: \$\.title: .*expected a title"),
    ],
    ids=["none", "yml", "one-of-them-wrong"],
)
def test_a_folder_is_refused_with_the_reason(files: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        title = "1" if "two" in name else "T"
        (tmp_path / name).write_text(f"title: {title}\nturns: [{{user: a, model: b}}]\n")
    with pytest.raises(ScenarioError, match=reason):
        load_all(tmp_path)


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        load_all(tmp_path / "absent")


def test_nesting_that_would_exhaust_the_stack_is_refused(tmp_path: Path) -> None:
    """The parser itself may give up first, with a place of its own; which one does depends on its version."""
    file = tmp_path / "bad.yaml"
    file.write_text("a: " + "[" * 50_000, encoding="utf-8")
    with pytest.raises(ScenarioError, match="nest"):
        load(file)
