"""A small adapter that has several accounts and hosts, as options of its endpoint name them.

It gets its tokens at the token endpoint and goes on to the next account or host where one refuses.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from turnproof.messages import FinishReason, Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import AuthenticationError, Binding, Capabilities, Endpoint, TransportError

_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Rotating:
    """Sends texts, reads texts."""

    def __init__(self, endpoint: Endpoint) -> None:
        names = endpoint.options.get("accounts", ["main"])
        self._accounts = {name: f"1//{endpoint.api_key}/{name}" for name in names}
        self._hosts = [f"{endpoint.base_url}/{host}" for host in endpoint.options.get("hosts", ["prod"])]
        self._token_url = f"{endpoint.base_url}/token"
        self._model = endpoint.model

    def complete(
        self,
        messages: list[Message],
        system_instruction: Any = None,
        tools: Any = None,
        *,
        on_chunk: Callable[[str], None] | None = None,
        **_: Any,
    ) -> ProviderResponse:
        contents = [{"role": message.role, "parts": [{"text": message.text}]} for message in messages]
        body = {"model": self._model, "request": {"contents": contents}}
        status, answer = self._send(body)
        if status != 200:
            raise TransportError("nobody was answered", status=status)
        candidate, used = answer["response"]["candidates"][0], answer["response"]["usageMetadata"]
        text = "".join(part["text"] for part in candidate["content"]["parts"])
        if on_chunk is not None:
            on_chunk(text)
        usage = TokenUsage(used["promptTokenCount"], used["candidatesTokenCount"], used["totalTokenCount"])
        return ProviderResponse((Text(text),), usage, FinishReason.STOP, candidate["finishReason"])

    def _send(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        status: int = 0
        answer: Any = None
        for name, refresh_token in self._accounts.items():
            token = self._token(refresh_token)
            for host in self._hosts if token else ():
                sent = json.dumps({"project": f"turnproof-{name}", **body}).encode()
                headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
                status, answer = _post(f"{host}/v1internal:generateContent", sent, headers)
                if status == 200:
                    return status, answer
        if not status:
            raise AuthenticationError("no account has a token", status=400)
        return status, answer

    def _token(self, refresh_token: str) -> str | None:
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": "c", "client_secret": "s"}
        status, answer = _post(
            self._token_url, urlencode(form).encode(), {"content-type": "application/x-www-form-urlencoded"}
        )
        return str(answer["access_token"]) if status == 200 else None

    def shutdown(self) -> None:
        """Nothing is kept open."""


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Any]:
    try:
        with _open(urllib.request.Request(url, body, dict(headers)), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


ROTATING = Binding(
    name="toy-rotating",
    dialect="antigravity",
    model="gemini-3-flash",
    capabilities=Capabilities(),
    open_stateless=Rotating,
)
