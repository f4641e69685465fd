"""Operations that no script speaks of: the refresh of a token, an account's project and quota, models, token counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...messages import JSON
from ..base import Call, ModelFacts, PromptUsage, Rendered, World
from ..gemini.counting import count
from ..gemini.models import THINKS
from ..gemini.times import format_timestamp
from ..gemini.writing import JSON_HEADERS, body_event
from . import accounts, oauth
from .accounts import Account
from .call import POLL, TOKEN, AntigravityCall

_FREE = {"id": "free-tier", "name": "Antigravity", "isDefault": True}
_OPERATION = "operations/onboard"


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to anything but a request for an answer of a model."""
    own_call = AntigravityCall.from_call(call)
    return Rendered(
        200, JSON_HEADERS, (body_event(_ANSWERS[own_call.verb](own_call, own_call.account or Account("main"), world)),)
    )


def _token(call: AntigravityCall, account: Account, world: World) -> JSON:
    return oauth.token_answer(account, world)


def _count(call: AntigravityCall, account: Account, world: World) -> JSON:
    # Contents alone are counted, tools and instructions are not: router-for-me/CLIProxyAPI#840.
    contents = Call(call.operation, call.model, messages=call.messages)
    return {"totalTokens": count(contents)}


def _load(call: AntigravityCall, account: Account, world: World) -> JSON:
    if not accounts.is_onboarded(account, world):
        return {"allowedTiers": [_FREE]}
    return {
        "currentTier": {"id": _FREE["id"], "name": _FREE["name"]},
        "allowedTiers": [_FREE],
        "ineligibleTiers": None,
        "cloudaicompanionProject": account.project,
        "paidTier": None,
    }


def _onboard(call: AntigravityCall, account: Account, world: World) -> JSON:
    """Takes a while: done when it is asked for again, or polled."""
    if accounts.is_onboarded(account, world):
        return _onboarded(account)
    accounts.onboard(account, world)
    return {"name": _OPERATION, "done": False}


def _poll(call: AntigravityCall, account: Account, world: World) -> JSON:
    done = call.resource == _OPERATION and accounts.is_onboarded(account, world)
    return _onboarded(account) if done else {"name": call.resource, "done": False}


def _onboarded(account: Account) -> JSON:
    project = {"id": account.project, "name": account.project}
    return {"name": _OPERATION, "done": True, "response": {"cloudaicompanionProject": project}}


def _models(call: AntigravityCall, account: Account, world: World) -> JSON:
    entries = {facts.id: _model(facts, account, world) for facts in world.models.values()}
    return {"models": entries, "defaultAgentModelId": next(iter(entries), "")}


def _model(facts: ModelFacts, account: Account, world: World) -> JSON:
    return {
        "displayName": " ".join(word.capitalize() for word in facts.id.split("-")),
        "quotaInfo": _left(account, facts.id, world),
        "maxTokens": facts.context_tokens,
        "maxOutputTokens": facts.max_output_tokens,
        **({"supportsThinking": True} if THINKS in facts.features else {}),
    }


def _quota(call: AntigravityCall, account: Account, world: World) -> JSON:
    buckets = [{**_left(account, model, world), "tokenType": "REQUESTS", "modelId": model} for model in world.models]
    return {"buckets": buckets}


def _left(account: Account, model: str, world: World) -> dict[str, JSON]:
    fraction, wait = accounts.remaining_quota(account, model, world)
    return {"remainingFraction": fraction, "resetTime": f"{format_timestamp(world.clock() + wait)[:19]}Z"}


def _nothing(call: AntigravityCall, account: Account, world: World) -> JSON:
    """What gemini-cli 0.61 asks for and can do without."""
    return {}


_ANSWERS: Mapping[str, Callable[[AntigravityCall, Account, World], JSON]] = {
    TOKEN: _token,
    POLL: _poll,
    "countTokens": _count,
    "loadCodeAssist": _load,
    "onboardUser": _onboard,
    "fetchAvailableModels": _models,
    "retrieveUserQuota": _quota,
    "fetchAdminControls": _nothing,
    "listExperiments": _nothing,
    "recordCodeAssistMetrics": _nothing,
}
