"""Pairs about turns: their order, calls and responses, and thought signatures."""

from __future__ import annotations

from ..asks import Pair, ask, at, loop, vertex
from ..builders import (
    OLD,
    OPENING,
    OTHER_CALLS_SIGNATURE,
    OTHER_MODELS_SIGNATURE,
    SIGNATURE_URL_SAFE,
    UNKNOWN_SIGNATURE,
    call,
    model,
    response,
    user,
)

_CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_RESPONSE_TURN = "Please ensure that function response turn comes immediately after a function call turn."
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_LAST = "Please ensure that single turn requests end with a user role or the role field is empty."
_LEARN_MORE = "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"


def _turns() -> list[Pair]:
    unpaired = "has the id and name of no call of the function call turn."
    return [
        Pair("call-turn", ask(model(call()), user(response())), _CALL_TURN, loop(model(call()), user(response()))),
        Pair("response-turn", ask(OPENING, user(response())), _RESPONSE_TURN, loop(model(call()), user(response()))),
        Pair("response-turn", loop(model("41 %."), user(response())), _RESPONSE_TURN,
             loop(model("Let me look.", call()), user(response())), variant="after-text"),
        Pair("response-count", loop(model(call(), call(None)), user(response())), _COUNT,
             loop(model(call(), call(None)), user(response(), response()))),
        Pair("response-count", loop(model(call()), user(response()), user(response())), _COUNT,
             loop(model(call()), model(call(None)), user(response()), user(response())), variant="after-merging"),
        Pair("last-is-model", ask(OPENING, model("It is")), _LAST, ask(OPENING, model("It is"), user("Go on."))),
        Pair("dangling-call", loop(model(call()), user("Never mind.")), _RESPONSE_TURN,
             loop(model(call()), user(response(), "Never mind.")), enforced=False),
        Pair("response-pairing", loop(model(call(id="a")), user(response(id="b"))),
             f"Function response `read_sensor` {unpaired}", loop(model(call(id="a")), user(response(id="a"))),
             enforced=False),
        Pair(
            "response-pairing",
            loop(model(call()), user(response(name="water"))),
            f"Function response `water` {unpaired}",
            loop(model(call(name="water", signature=OTHER_CALLS_SIGNATURE)), user(response(name="water")), user("So?")),
            enforced=False,
            variant="name",
        ),
    ]  # fmt: skip


def _signatures() -> list[Pair]:
    missing = "Function call `read_sensor` in the `{}.` content block is missing a `thought_signature`."
    return [
        Pair("missing-signature", loop(model(call(None)), user(response())), missing.format(2),
             loop(model(call(None)), user(response()), user("And now?"))),
        Pair(
            "missing-signature",
            vertex(loop(model(call(None)), user(response()))),
            "Unable to submit request because function call `default_api:read_sensor` in the 2. content block is "
            f"missing a `thought_signature`. Learn more: {_LEARN_MORE}",
            vertex(loop(model(call()), user(response()))),
            variant="vertex",
        ),
        Pair("missing-signature", loop(model(call()), user(response()), model(call(None)), user(response())),
             missing.format(4), loop(model(call()), user(response()), model(call()), user(response())),
             variant="second-step"),
        Pair("missing-signature", loop(model(call(None), call()), user(response(), response())), missing.format(2),
             loop(model(call(), call(None)), user(response(), response())), variant="on-the-second-call"),
        Pair("missing-signature", loop(model(call("")), user(response())), missing.format(2),
             at(OLD, loop(model(call("")), user(response()))), variant="empty"),
        Pair("invalid-signature", loop(model(call(UNKNOWN_SIGNATURE)), user(response())),
             "Thought signature is not valid", loop(model(call(SIGNATURE_URL_SAFE)), user(response()))),
        Pair("invalid-signature", vertex(loop(model(call(UNKNOWN_SIGNATURE)), user(response()))),
             "Unable to submit request because Thought signature is not valid",
             vertex(loop(model(call("skip_thought_signature_validator")), user(response()))), variant="vertex"),
        Pair("foreign-model-signature", loop(model(call(OTHER_MODELS_SIGNATURE)), user(response())),
             "Thought signature was issued by gemini-3.5-flash",
             at("gemini-3.5-flash", loop(model(call(OTHER_MODELS_SIGNATURE)), user(response()))), enforced=False),
        Pair("moved-signature", loop(model(call(OTHER_CALLS_SIGNATURE)), user(response())),
             "Thought signature was issued for another part", loop(model(call()), user(response())), enforced=False),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_turns(), *_signatures())
