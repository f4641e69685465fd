"""A call of ADK's model classes as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.reproducer import LibraryCall, LibraryCode

from .google_adk_messages import AdkMessages, request_config

IMPORTS = {
    "anthropic-messages": (
        "from anthropic import AsyncAnthropic",
        "from google.adk.models.anthropic_llm import AnthropicLlm",
    ),
    "gemini": ("from google.adk.models import Gemini",),
}
PACKAGES = {"anthropic-messages": ("google-adk", "anthropic"), "gemini": ("google-adk", "google-genai")}
MODELS = {
    "anthropic-messages": "AnthropicLlm(model=name, client=AsyncAnthropic(base_url=url, api_key='k', max_retries=0))",
    "gemini": "Gemini(model=name, client_kwargs={'api_key': 'k', 'http_options': {'base_url': url}})",
}
MEMBERS = {
    "text": "''.join(p.text or '' for p in parts if not p.thought)",
    "thoughts": "''.join(p.text or '' for p in parts if p.thought)",
    "calls": "[[p.function_call.name, p.function_call.args] for p in parts if p.function_call]",
    "finish": "getattr(answer.finish_reason, 'value', None)",
    "chunks": "[p.text for one in answers if one.partial for p in one.content.parts if p.text and not p.thought]",
    "whole": "repr(answers)",
    "usage": "{'prompt_tokens': answer.usage_metadata.prompt_token_count}",
}


class AdkCalls:
    """A `Reproducer` for a model class."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.packages: Sequence[str] = PACKAGES[dialect]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        messages = [f"Content(**{one!r})" for one in AdkMessages(self._dialect, call.model).write(call.messages)]
        imports = (
            "from google.adk.models import LlmRequest",
            "from google.genai.types import Content, GenerateContentConfig",
            *IMPORTS[self._dialect],
        )
        return LibraryCode(imports, messages, list(self._body(call)), opening=list(self._opening(call)))

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        config = request_config(call.messages, call.system, call.tools, call.options)
        yield f"name, config = {call.model!r}, GenerateContentConfig(**{config!r})"
        yield f"model = {MODELS[self._dialect]}"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        yield "request = LlmRequest(model=name, contents=messages, config=config)"
        yield f"answers = [one async for one in model.generate_content_async(request, stream={call.streamed})]"
        yield "answer = answers[-1]"
        yield "parts = (answer.content and answer.content.parts) or []"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
