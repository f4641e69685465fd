"""What the service does by itself within an answer: tools it runs, and what it tells of a text beside its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import JSON, CodeExecutionResult, ExecutableCode, FunctionCall, Opaque, Part, Text

from .reading import AnsweredCall, answered_calls, read_requests

_MISSING = finding(
    "core/what-the-service-did-goes-back/missing",
    "What the service did in an earlier answer is missing from the request.",
    "{expected} in the model's messages",
    "a request without it",
)
_ORDER = finding(
    "core/what-the-service-did-goes-back/order",
    "What the service did goes back in another order.",
    "{expected}, in this order",
    "{observed}",
)


@dataclass(frozen=True, slots=True)
class _Done:
    """What the service did by itself in an answer, and the part that says so."""

    answer: AnsweredCall
    part: Part
    form: JSON


@check("core/what-the-service-did-goes-back")
def what_the_service_did_goes_back(view: View) -> Findings:
    """From the wire to the wire: in every later request, and in the order in which it came."""
    done = [_Done(one, part, form) for one in answered_calls(view) for part, form in _service_parts(one.wire.parts)]
    for request in read_requests(view):
        expected = [one for one in done if one.answer.call.index < request.call.index]
        if not expected:
            continue
        forms = [one.form for one in expected]
        own = list(
            _service_parts(
                part for message in request.wire.messages if message.role == "model" for part in message.parts
            )
        )
        found = [form for _, form in own]
        missing = [one for one in expected if one.form not in found]
        for one in missing:
            place, came = request.at_wire_message(one.answer.response), one.answer.at_wire(one.part)
            yield _MISSING(place, expected=one.form, related=(came,))
        again = [(part, form) for part, form in own if form in forms]
        if not missing and [form for _, form in again] != forms:
            # Nothing is missing, so that there is at least as much of it: some stands elsewhere, or comes again.
            first = next(part for n, (part, form) in enumerate(again) if n >= len(forms) or form != forms[n])
            yield _ORDER(request.at_part(first), expected=forms, observed=[form for _, form in again])
        elif not missing:
            yield Compared("what the service did")


def _service_parts(parts: Iterable[Part]) -> Iterator[tuple[Part, JSON]]:
    """What of these parts is the service's own, less signatures, which are another requirement's business."""
    for part in parts:
        match part:
            case Opaque(data=data):
                yield part, data
            case ExecutableCode(language=language, code=code):
                yield part, {"language": language, "code": code}
            case CodeExecutionResult(outcome=outcome, output=output):
                yield part, {"outcome": outcome, "output": output}
            case Text() | FunctionCall():
                service_data = part.provider_data.data if part.provider_data is not None else {}
                unsigned = {name: value for name, value in service_data.items() if name != "signature"}
                if unsigned:
                    yield part, {**unsigned, "of": part.text if isinstance(part, Text) else part.id}
