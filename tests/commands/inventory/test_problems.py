"""What source alone does not decide is said, with its line; what cannot be looked at is refused."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from turnproof.commands.inventory import take_inventory
from turnproof.errors import UsageError
from turnproof.provider import LEGACY_METHODS, LegacyProvider

from .kit import Take

UNSEEN = {
    "set-by-a-computed-name": ("setattr(self, name, text)", "an attribute is set by a name that is computed"),
    "deleted-by-a-computed-name": ("delattr(self, name)", "an attribute is set by a name that is computed"),
    "reached-by-a-computed-name": (
        "getattr(self, name).append(1)",
        "an attribute is reached by a name that is computed",
    ),
    "all-at-once": ("self.__dict__.update(x=1)", "all attributes are reached at once"),
    "all-at-once-by-vars": ("vars(self).clear()", "all attributes are reached at once"),
    "exec": ("exec(text)", "code is run from text"),
    "eval": ("eval(text)", "code is run from text"),
}


@pytest.mark.parametrize(("statement", "says"), UNSEEN.values(), ids=UNSEEN)
def test_a_spot_that_cannot_be_decided_is_told_with_its_line(statement: str, says: str, take: Take) -> None:
    facts = take(
        f"""
        class Provider:
            def complete(self, text, name):
                {statement}
        """
    )
    assert facts.inventory.problems == (f"{facts.inventory.file}:4: {says}: {statement}",)
    assert facts.inventory.left == ()


def test_what_has_nothing_to_do_with_the_object_is_no_problem(take: Take) -> None:
    facts = take(
        """
        class Provider:
            def complete(self, messages, name):
                setattr(messages[0], name, 1)
                return getattr(self.client, name)(vars(messages[0]), hasattr(self, name))
        """
    )
    assert facts.inventory.problems == ()


def test_a_class_that_passes_attributes_on_says_so(take: Take) -> None:
    facts = take(
        """
        class Provider:
            def __getattr__(self, name):
                return getattr(self.inner, name)
        """
    )
    (problem,) = facts.inventory.problems
    assert problem == f"{facts.inventory.file}:3: Provider passes attributes on that it does not have"


def test_a_base_that_is_not_looked_into_is_named(take: Take) -> None:
    facts = take(
        """
        import msgspec

        class Provider(msgspec.Struct):
            key: str
        """
    )
    assert facts.inventory.problems[0] == f"{facts.inventory.file}: the base msgspec.Struct was not looked into"


def test_an_installed_package_is_read_when_it_is_named(module: Callable[..., type]) -> None:
    cls = module(
        """
        import rich.progress

        class Provider(rich.progress.ProgressColumn):
            pass
        """
    )
    (problem,) = take_inventory(cls).problems
    assert "rich.progress.ProgressColumn was not looked into" in problem
    assert take_inventory(cls, ["rich"]).problems == ()


@pytest.mark.parametrize("cls", [int, msgspec.Struct, dict], ids=["builtin", "extension", "container"])
def test_a_class_without_source_is_refused(cls: type) -> None:
    with pytest.raises(UsageError, match=f"{cls.__module__}.{cls.__qualname__} has no Python source to look at"):
        take_inventory(cls)


def test_a_class_that_was_made_at_run_time_is_refused(module: Callable[..., type]) -> None:
    with pytest.raises(UsageError, match="has no Python source"):
        take_inventory(module("Provider = type('Provider', (), {})"))


def test_the_class_of_two_with_one_name_is_the_one_that_is_there(take: Take) -> None:
    facts = take(
        """
        if False:
            class Provider:
                def send_message(self, message):
                    self._history.append(message)
        else:
            class Provider:
                def complete(self, messages):
                    return post(messages)
        """
    )
    assert facts.names == []


def test_the_protocol_itself_has_all_legacy_methods() -> None:
    inventory = take_inventory(LegacyProvider)
    assert {use.name for use in inventory.legacy} == {*LEGACY_METHODS}
    assert not any(use.touches for use in inventory.legacy)
    assert inventory.left == inventory.legacy


def test_a_legacy_method_of_an_installed_base_is_told_although_its_source_is_not_read(take: Take) -> None:
    facts = take(
        """
        from turnproof.provider import LegacyProvider

        class Provider(LegacyProvider):
            def complete(self, messages):
                return post(messages)
        """
    )
    assert {use.name for use in facts.inventory.legacy} == {*LEGACY_METHODS}
    assert facts.of("get_history").owner == "LegacyProvider"
    assert facts.of("get_history").file.endswith("turnproof/provider/__init__.py")
