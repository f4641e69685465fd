"""A client of the gateway as adapters are: it refreshes its tokens, changes hosts, and goes from account to account.

Small, and with nothing in common with the dialect: what passes between the two is bytes on a socket.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx2

Json = dict[str, Any]
CONTENTS = [{"role": "user", "parts": [{"text": "How moist is bed 3?"}]}]


@dataclass
class Client:
    """`accounts` are refresh tokens, tried in this order; `hosts` are base addresses. Raises what it cannot get by."""

    accounts: list[str]
    hosts: list[str]
    token_url: str
    # No certificates: loopback speaks plain HTTP, and to read them takes longer than a test.
    http: httpx2.Client = field(default_factory=lambda: httpx2.Client(trust_env=False, verify=False, timeout=60))
    tokens: dict[str, str] = field(default_factory=dict)
    projects: dict[str, str] = field(default_factory=dict)

    def refresh(self, account: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": account, "client_id": "c", "client_secret": "s"}
        answer = self.http.post(self.token_url, data=form)
        if answer.status_code == 200:
            self.tokens[account] = answer.json()["access_token"]
        return answer

    def post(self, account: str, verb: str, body: Json, host: str | None = None) -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.tokens[account]}"}
        return self.http.post(f"{host or self.hosts[0]}/v1internal:{verb}", json=body, headers=headers)

    def generate(self, model: str = "gemini-3-flash", **request: Any) -> httpx2.Response:
        """The first answer that any account gets from any host; the last refusal where none gets one."""
        answer: httpx2.Response | None = None
        for account in self.accounts:
            if account not in self.tokens and (answer := self.refresh(account)).status_code != 200:
                continue
            answer = self._request_answer(account, model, request)
            if answer.status_code == 401 and self.refresh(account).status_code == 200:
                answer = self._request_answer(account, model, request)
            if answer.status_code not in (401, 403, 429):
                break
        assert answer is not None
        return answer

    def _request_answer(self, account: str, model: str, request: Json) -> httpx2.Response:
        if account not in self.projects:
            loaded = self.post(account, "loadCodeAssist", {"metadata": {"ideType": "ANTIGRAVITY"}}, self.hosts[-1])
            if loaded.status_code != 200:
                return loaded
            self.projects[account] = loaded.json()["cloudaicompanionProject"]
        body = {"project": self.projects[account], "model": model, "request": {"contents": CONTENTS} | request}
        for host in self.hosts:
            answer = self.post(account, "generateContent", body, host)
            if answer.status_code < 500 and answer.status_code != 404:
                break
        return answer
