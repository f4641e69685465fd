"""LangChain's standard integration tests for its own Anthropic model, against a server that behaves like one.

Run by pytest in an environment with langchain-tests, where there is no turnproof. Address and key come in variables.
"""

# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

from __future__ import annotations

import os
from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestStandard(ChatModelIntegrationTests):
    """All of them."""

    @property
    def chat_model_class(self) -> Any:
        return ChatAnthropic

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {
            "model": os.environ["STANDARD_MODEL"],
            "base_url": os.environ["STANDARD_URL"],
            "api_key": os.environ["STANDARD_KEY"],
            "max_retries": 0,
        }
