"""What a cache plugin gets of a call, whoever makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from turnproof.cache import Prepared
from turnproof.cancel import CancelToken
from turnproof.messages import Message, ToolSchema
from turnproof.provider import SystemInstruction

from .adapter_kit import HI, AdapterKit
from .subjects import KITS

URL = "http://example.invalid"
TOOLS = [ToolSchema("a")]
CACHING = [kit for kit in KITS if hasattr(kit.open("stateless", URL), "set_cache_plugin")]


class PluginArguments(Exception):
    """What a plugin was given, thrown out of the call."""


class Asking:
    """Tells what it was asked, instead of answering."""

    def prepare(
        self,
        messages: Sequence[Message],
        system: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> Prepared:
        raise PluginArguments([message.text for message in messages], system, list(tools or ()), cancel_token)


@pytest.mark.parametrize("kit", CACHING, ids=lambda kit: kit.name)
def test_a_cache_plugin_is_given_the_whole_call(kit: AdapterKit) -> None:
    token = CancelToken()
    pure, stateful = kit.open("stateless", URL), kit.open("legacy", URL)
    stateful.create_session("rules", TOOLS, [HI])
    calls: tuple[Callable[[], object], ...] = (
        lambda: pure.complete([HI, Message.user("so?")], "rules", TOOLS, cancel_token=token),
        lambda: stateful.send_message("so?", cancel_token=token),
    )
    for provider, call in zip((pure, stateful), calls, strict=True):
        provider.set_cache_plugin(Asking())
        with pytest.raises(PluginArguments) as arguments:
            call()
        assert arguments.value.args == ([HI.text, "so?"], "rules", TOOLS, token)
    assert len(stateful.get_history()) == 1
