"""Settings of cache plugins, from code and from configuration: checked alike, and taken whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cache import CachePlugin, ExplicitCachePlugin, ImplicitCachePlugin, ManagedCachePlugin
from turnproof.errors import UsageError
from turnproof.messages import CacheMark, Message, Text

MANAGED: Any = ManagedCachePlugin(None)  # type: ignore[arg-type]


def mark_of(plugin: CachePlugin) -> CacheMark | None:
    system = plugin.prepare([Message.user("hi")], "rules", None).system
    return system.cache if isinstance(system, Text) else None


def test_settings_from_a_configuration_do_what_those_from_code_do() -> None:
    plugin = ExplicitCachePlugin()
    assert mark_of(plugin) is None
    plugin.initialize({"ttl": "1h", "minimum_tokens": 1})
    assert mark_of(plugin) == mark_of(ExplicitCachePlugin(ttl="1h", minimum_tokens=1)) == CacheMark("1h")
    plugin.initialize({"minimum_tokens": 1})
    assert mark_of(plugin) == CacheMark("5m")


def test_messages_marked_before_carry_the_new_life_afterwards() -> None:
    plugin, messages = ExplicitCachePlugin(minimum_tokens=1), [Message.user("hi")]
    plugin.prepare(messages, None, None)
    plugin.initialize({"ttl": "1h", "minimum_tokens": 1})
    assert plugin.prepare(messages, None, None).messages[0].parts[0].cache == CacheMark("1h")


@pytest.mark.parametrize(
    ("plugin", "config", "message"),
    [
        (ExplicitCachePlugin(), {"ttl": "5min"}, r"explicit cache plugin: Invalid enum value '5min' - at `\$.ttl`"),
        (ExplicitCachePlugin(), {"minimum_tokens": -1}, r"at `\$.minimum_tokens`; known settings: ttl, minimum_tokens"),
        (ExplicitCachePlugin(), {"minimum": 1}, r"unknown field `minimum`; known settings: ttl, minimum_tokens"),
        (MANAGED, {"ttl_seconds": 0}, r"managed cache plugin: .*at `\$.ttl_seconds`"),
        (MANAGED, {"ttl": "5m"}, r"unknown field `ttl`; known settings: ttl_seconds, minimum_tokens"),
        (ImplicitCachePlugin(), {"ttl": "5m"}, r"implicit cache plugin: .*unknown field `ttl`; known settings: none"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(plugin: CachePlugin, config: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plugin.initialize(config)


def test_a_refused_configuration_changes_nothing() -> None:
    plugin = ExplicitCachePlugin(ttl="1h", minimum_tokens=1)
    with pytest.raises(UsageError):
        plugin.initialize({"ttl": "5m", "minimum_tokens": -1})
    assert mark_of(plugin) == CacheMark("1h")


def test_a_wrong_setting_in_code_is_refused_alike() -> None:
    with pytest.raises(UsageError, match="ttl_seconds"):
        ManagedCachePlugin(None, ttl_seconds=0)  # type: ignore[arg-type]
