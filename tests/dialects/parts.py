"""The parts and messages that the histories of every dialect are made of."""

from __future__ import annotations

from turnproof import messages as m


def inline(content: bytes, media_type: str = "image/png") -> m.InlineData:
    return m.InlineData(media_type, content)


def linked(uri: str, media_type: str = "image/png") -> m.FileRef:
    return m.FileRef(media_type, uri)


user, model = m.Message.user, m.Message.model


def code_run(
    code: str, output: str, *, outcome: str = "ok", by: m.ProviderData | None = None
) -> tuple[m.ExecutableCode, m.CodeExecutionResult]:
    """Code that another service ran, and what it printed."""
    return m.ExecutableCode("python", code, provider_data=by), m.CodeExecutionResult(outcome, output, provider_data=by)
