"""How turnproof opens the adapter: `turnproof certify httpx_chat_binding:BINDING`."""

from httpx_chat import HttpxChat

from turnproof.provider import Binding, Capabilities, Endpoint


def open_stateless(endpoint: Endpoint) -> HttpxChat:
    return HttpxChat(endpoint.base_url, endpoint.api_key, endpoint.model, **endpoint.options)


BINDING = Binding(
    name="httpx-chat",
    dialect="openai-chat",
    model="gpt-5-mini",
    capabilities=Capabilities(streaming=True, tools=True, parallel_tools=True, cancel=True, typed_errors=True),
    open_stateless=open_stateless,
    package="httpx",
)
