"""The SDK's client on our transport, with the least of azure-core's pipeline that a request needs.

What is not in the list of policies does not happen: no retries (whoever drives the adapter retries), no redirects
(the HTTP client follows them, and leaves the key behind where they lead to another host), no logging, no tracing. Of
the two headers that the SDK puts a key into, GitHub Models takes `Authorization` (azure-ai-inference 1.0.0b9,
`_patch`).
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx2
from azure.ai.inference import ChatCompletionsClient
from azure.core.credentials import AzureKeyCredential
from azure.core.pipeline.policies import AzureKeyCredentialPolicy, CustomHookPolicy, UserAgentPolicy

from .._http import Connection, client_arguments, timeouts
from .._interrupt import make_cuttable
from .transport import Httpx2Transport

HOST = "https://models.github.ai"
_INFERENCE = re.compile(r"(?:/orgs/[^/]+)?/inference$")


def open_client(connection: Connection, api_key: str) -> ChatCompletionsClient:
    """A client of the official SDK."""
    endpoint = address(connection.base_url)
    http = make_cuttable(httpx2.Client(**client_arguments(connection, endpoint)))
    credential = AzureKeyCredential(api_key)
    policies = [
        UserAgentPolicy(sdk_moniker="ai-inference"),
        AzureKeyCredentialPolicy(credential, "Authorization", prefix="Bearer"),
        CustomHookPolicy(),
    ]
    transport = Httpx2Transport(http, timeouts(connection.silence))
    return ChatCompletionsClient(endpoint, credential, policies=policies, transport=transport)


def address(base_url: str | None) -> str:
    """The endpoint that the SDK is given; None is GitHub's own.

    The address of the host alone gets the path under which it serves inference; a `/v1` behind it is no part of this
    API. Any other path is left as it is: the retired host had none.
    """
    bare = (base_url or f"{HOST}/inference").rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{bare}/inference" if urlsplit(bare).netloc == urlsplit(HOST).netloc and not urlsplit(bare).path else bare


def catalogue_of(endpoint: str) -> str:
    """Where the service lists its models."""
    return f"{_INFERENCE.sub('', endpoint)}/catalog/models"
