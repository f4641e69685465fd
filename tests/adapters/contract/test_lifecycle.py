"""Opening and closing, and what holds before and after; what a binding claims and what its provider says."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

from turnproof.errors import RateLimitError, TransportError, UsageError
from turnproof.provider import Binding

from ..anthropic.kit import KIT as ANTHROPIC
from ..openai.kit import KIT as OPENAI
from ..scripted_server import scripted
from .adapter_kit import HI, AdapterKit, Subject
from .subjects import KITS, SUBJECTS, batch_and_stream, each_kit, parametrize_subject
from .wire_parts import text

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"
ADAPTERS = [kit for kit in KITS if kit.binding is not None]
each_opener = parametrize_subject(subject for subject in SUBJECTS if subject.kit in ADAPTERS)
each_adapter = pytest.mark.parametrize("kit", ADAPTERS, ids=lambda kit: kit.name)


def binding_of(kit: AdapterKit) -> Binding:
    assert kit.binding is not None
    return kit.binding


@each_opener
def test_a_provider_is_connected_from_opening_to_shutdown(subject: Subject) -> None:
    opened = subject.open(URL)
    assert opened.provider.is_connected
    assert opened.provider.model_name == subject.kit.model
    assert opened.provider.name == binding_of(subject.kit).name
    for _ in range(2):
        opened.provider.shutdown()
        assert not opened.provider.is_connected


@each_opener
@batch_and_stream
def test_a_call_after_shutdown_is_a_usage_error(subject: Subject, streamed: bool) -> None:
    opened = subject.open(URL)
    opened.provider.shutdown()
    with pytest.raises(UsageError, match="not open"):
        opened.ask(streamed)


@each_adapter
def test_a_call_before_opening_says_what_to_do(kit: AdapterKit) -> None:
    provider = type(kit.open("stateless", URL))()
    assert not provider.is_connected
    with pytest.raises(UsageError, match=r"initialize\(\) and connect\(\)"):
        provider.complete([HI])
    with scripted(lambda exchange: exchange.answer(kit.answer(text("hi")))) as server:
        endpoint = kit.endpoint(server.url)
        provider.initialize({**endpoint.options, "api_key": kit.key, "base_url": server.url})
        assert not provider.is_connected
        with pytest.raises(UsageError, match=r"no model is chosen: call connect\(\)"):
            provider.complete([HI])
        provider.connect(kit.model)
        assert provider.is_connected
        assert provider.complete([HI]).text == "hi"


@each_adapter
def test_a_provider_may_be_connected_before_it_is_initialized(kit: AdapterKit) -> None:
    provider = type(kit.open("stateless", URL))()
    provider.connect(kit.model)
    with pytest.raises(UsageError, match="not open"):
        provider.complete([HI])
    with scripted(lambda exchange: exchange.answer(kit.answer(text("hi")))) as server:
        provider.initialize({**kit.endpoint(server.url).options, "api_key": kit.key, "base_url": server.url})
        assert provider.complete([HI]).text == "hi"


@each_kit
def test_errors_are_classified_for_a_retry_loop(kit: AdapterKit) -> None:
    provider = kit.open("stateless", URL)
    limited = {"transient": True, "rate_limit": True, "infra": False}
    assert provider.classify_error(RateLimitError("slow down")) == limited
    assert provider.classify_error(TransportError("cut")) == {"transient": True, "rate_limit": False, "infra": True}
    assert provider.classify_error(ValueError("no")) == {"transient": False, "rate_limit": False, "infra": False}
    assert provider.get_retry_after(RateLimitError("slow down", retry_after=17)) == 17


@each_adapter
def test_what_a_provider_supports_is_what_its_binding_claims(kit: AdapterKit) -> None:
    provider, claims = kit.open("stateless", URL), binding_of(kit).claims(kit.model)
    assert provider.supports_structured_output() == claims.structured
    assert provider.supports_streaming() == claims.streaming
    assert provider.supports_stop() == claims.cancel


@each_adapter
def test_a_broken_event_is_the_same_failure_on_both_paths(kit: AdapterKit) -> None:
    """In other words where the binding declares it: one path has the words of the SDK's decoder."""
    declared = {difference.name for difference in binding_of(kit).declared}
    failures: list[TransportError] = []
    with scripted(lambda exchange: exchange.stream(kit.broken_event(b"{"))) as server:
        for path in ("stateless", "legacy"):
            with pytest.raises(TransportError) as failure:
                Subject(kit, path).open(server.url).stream()
            failures.append(failure.value)
    ours, theirs = failures
    assert (ours.status, ours.kind, ours.retryable) == (theirs.status, theirs.kind, theirs.retryable)
    if "error-words" in declared and Subject(kit, "legacy").claimed(["error-words"]):
        assert ours.message != theirs.message


@each_adapter
def test_a_binding_is_looked_at_without_importing_its_sdk(kit: AdapterKit) -> None:
    code = (
        "import sys; from importlib.metadata import entry_points;"
        f"binding = entry_points(group='turnproof.adapters')[{binding_of(kit).name!r}].load();"
        "binding.claims().cache == 'explicit' and binding.cache_plugin and binding.cache_plugin(None);"
        "sys.exit(any(name in sys.modules for name in ('anthropic', 'openai', 'google.genai', 'azure', 'httpx2')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("kit", "sdk_client"),
    [pytest.param(kit, sdk.DefaultHttpxClient, id=kit.name) for kit, sdk in ((ANTHROPIC, anthropic), (OPENAI, openai))],
)
def test_the_http_client_has_the_callers_tls_and_as_many_connections_as_the_sdks_own(
    kit: AdapterKit, sdk_client: Callable[[], Any]
) -> None:
    context = ssl.create_default_context()
    ours = kit.open("stateless", "https://example.invalid", ssl_context=context)._client._client._transport._pool
    theirs = sdk_client()._transport._pool
    assert ours._ssl_context is context
    assert ours._max_connections == theirs._max_connections
    assert ours._max_keepalive_connections == theirs._max_keepalive_connections
