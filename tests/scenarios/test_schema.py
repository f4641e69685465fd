"""The JSON Schema of scenarios agrees with the reader: what is shipped fits, and what has a wrong form does not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from turnproof.errors import ScenarioError
from turnproof.scenarios import from_data, load
from turnproof.scenarios._document import parse_document, read_document
from turnproof.scenarios.schema import scenario_schema
from turnproof_suites import __file__ as suites

from .bad import Bad, bad_files

SHIPPED = sorted((Path(suites).parent / "scenarios").rglob("*.yaml"))
BAD = bad_files("files", "turns", "steps")

FORM = ("unknown key", "unknown word", "expected ", "out of range", "must be ")
"""How reasons begin that are about the form of a value, which a schema sees."""


@cache
def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(scenario_schema())
    return jsonschema.Draft202012Validator(scenario_schema())


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_shipped_scenario_fits(file: Path) -> None:
    assert load(file)
    validator().validate(read_document(str(file))[0])


@pytest.mark.parametrize("bad", BAD, ids=attrgetter("id"))
def test_what_the_reader_refuses_for_its_form_the_schema_refuses(bad: Bad) -> None:
    fits = validator().is_valid(parse_document(bad.text, bad.id)[0])
    assert not (fits and any(word in bad.reason for word in FORM)), bad.reason


def test_most_mistakes_of_authors_show_in_the_editor() -> None:
    refused = [bad for bad in BAD if not validator().is_valid(parse_document(bad.text, bad.id)[0])]
    assert len(refused) > len(BAD) / 2


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a document."""
    yield path
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(each, (*path, key))


def with_value(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """A copy of a document with another value in one place."""
    if not path:
        return new
    key, *rest = path
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = with_value(value[key], tuple(rest), new)
    return changed


def value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


FREE = {"args", "parameters", "response_schema", "block", "data", "when"}


@cache
def kinds_of_places() -> dict[tuple[str, ...], tuple[Any, str, tuple[str | int, ...]]]:
    """One document, a short one, for each kind of place that the shipped scenarios have, with its name and the place.

    Places are of one kind that end alike; those in arguments and schemas, where anything may be, are left out.
    """
    found: dict[tuple[str, ...], tuple[Any, str, tuple[str | int, ...]]] = {}
    for file in sorted(SHIPPED, key=lambda each: each.stat().st_size):
        data = read_document(str(file))[0]
        for path in places(data):
            kind = tuple("-" if isinstance(key, int) else key for key in path)
            if not FREE.intersection(kind[:-1]):
                found.setdefault(kind[-3:], (data, f"{file.parent.name}/{file.stem}", path))
    return found


def reason(data: Any, name: str) -> str:
    """Why the reader refuses a document; empty if it does not."""
    try:
        from_data(data, name)
    except ScenarioError as error:
        return error.reason
    return ""


def test_an_unknown_key_is_refused_by_both_or_by_none_wherever_it_is() -> None:
    refused = 0
    for kind, (data, name, path) in kinds_of_places().items():
        value = value_at(data, path)
        if isinstance(value, dict):
            changed = with_value(data, path, value | {"zzz": 1})
            by_reader = "unknown key" in reason(changed, name)
            assert not (by_reader and validator().is_valid(changed)), kind
            assert reason(changed, name) or validator().is_valid(changed), kind
            refused += by_reader
    assert refused > 20


@pytest.mark.parametrize("wrong", [-3, [], {"zzz": 1}], ids=str)
def test_a_value_of_another_type_is_refused_by_both_or_by_none(wrong: Any) -> None:
    for kind, (data, name, path) in kinds_of_places().items():
        changed = with_value(data, path, wrong)
        refusal, fits = reason(changed, name), validator().is_valid(changed)
        # Which tools are declared is no matter of form.
        about_form = any(word in refusal for word in FORM) and "denied" not in kind
        assert not (fits and about_form), (kind, refusal)
        assert refusal or fits, kind
