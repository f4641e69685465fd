"""Settings: what the caller gave goes out, and nothing that changes the answer goes out unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from turnproof.dialects.asked_settings import output_limits
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import JSON

from .reading import ReadRequest, read_requests

NEUTRAL: Final[Mapping[str, tuple[JSON, ...]]] = {
    "temperature": (1, 1.0),
    "topp": (1, 1.0, 0.95),
    "topk": (),
    "minp": (0, 0.0),
    "seed": (),
    "stop": ([],),
    "stopsequences": ([],),
    "frequencypenalty": (0, 0.0),
    "presencepenalty": (0, 0.0),
    "repeatpenalty": (1, 1.0),
    "logitbias": ({},),
    "toolchoice": ("auto", {"type": "auto"}, {"type": "auto", "disable_parallel_tool_use": False}),
    "paralleltoolcalls": (True,),
    "n": (1,),
    "candidatecount": (1,),
    "verbosity": ("medium",),
    "truncation": ("disabled",),
}
"""Settings that change the answer, in small letters without underscores, each with the values that change nothing."""

_UNASKED = finding(
    "core/no-setting-goes-out-unasked/set",
    "A setting that changes the answer was sent, and nobody had asked for it.",
    "a request without `{name:words}`, or with its default",
    "{observed}",
)
_LIMIT_LOST = finding(
    "core/limit-of-output-goes-out/missing",
    "The limit of the output that the caller set is not in the request.",
    "a limit of {expected} tokens",
    "{observed:words}",
)


@check("core/no-setting-goes-out-unasked", needs="history")
def no_setting_goes_out_unasked(view: View) -> Findings:
    """Neither sampling nor stop sequences nor a choice of tools, but for a value that is the API's default."""
    for request in read_requests(view):
        if request.call.began.response_schema is not None:
            continue  # a schema may be sent as a tool that has to be called
        found = list(_unasked(request.wire.settings))
        for path, value in found:
            yield _UNASKED(request.exchange.at(Side.REQUEST, *_steps(request, path)), name=path[-1], observed=value)
        if not found:
            yield Compared("settings of requests")


def _unasked(settings: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], JSON]]:
    for name, value in settings.items():
        neutral = NEUTRAL.get(name.replace("_", "").lower())
        if neutral is not None and value is not None and value not in neutral:
            yield (name,), value
        elif name in ("options", "generationConfig") and isinstance(value, Mapping):
            yield from ((("options", *path), found) for path, found in _unasked(value))


def _steps(request: ReadRequest, path: tuple[str, ...]) -> tuple[str, ...]:
    """Where the setting is in the body: some APIs have a place of their own for settings."""
    body = request.exchange.body if isinstance(request.exchange.body, dict) else {}
    places = [(), ("generationConfig",), ("request", "generationConfig")]
    return next((steps for place in places if _has(body, steps := (*place, *path))), ())


def _has(body: JSON, steps: tuple[str, ...]) -> bool:
    for step in steps:
        if not isinstance(body, dict) or step not in body:
            return False
        body = body[step]
    return True


@check("core/limit-of-output-goes-out", needs="history")
def limit_of_output_goes_out(view: View) -> Findings:
    """`max_tokens` of the endpoint's options, under whatever name the API has for it."""
    limit = view.scenario.options.get("max_tokens") if view.scenario is not None else None
    if limit is None or view.scenario.options.get("thinking") is not None:
        return  # thinking may need room of its own
    for request in read_requests(view):
        limits = output_limits(request.wire.settings)
        if limit in limits.values():
            yield Compared("limits of the output")
        else:
            observed = ", ".join(f"{name} {value}" for name, value in limits.items()) or "none"
            yield _LIMIT_LOST(request.at(), expected=limit, observed=observed)
