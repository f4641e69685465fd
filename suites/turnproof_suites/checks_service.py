"""What the service does by itself within an answer: tools it runs, and what it tells of a text beside its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnproof.messages import JSON, CodeExecutionResult, ExecutableCode, FunctionCall, Opaque, Part, Text
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .reading import answered, requested


@check("core/what-the-service-did-goes-back")
def what_the_service_did_goes_back(view: View) -> Findings:
    """From the wire to the wire: in every later request, and in the order in which it came."""
    answers = {one.call.index: list(_own(one.wire.parts)) for one in answered(view)}
    done: list[tuple[int, JSON]] = [(index, one) for index, own in answers.items() for one in own]
    for request in requested(view):
        wanted = [one for index, one in done if index < request.call.index]
        if not wanted:
            continue
        spoken = [part for message in request.sent.messages if message.role == "model" for part in message.parts]
        found = list(_own(spoken))
        missing = next((one for one in wanted if one not in found), None)
        if missing is not None:
            yield violated(f"{request.where}: the service had said {show(missing)}, which the request lacks")
        elif [one for one in found if one in wanted] != wanted:
            yield violated(
                f"{request.where}: what the service did came in the order {show(wanted)}, and goes back otherwise"
            )
        else:
            yield "what the service did"


def _own(parts: Iterable[Part]) -> Iterator[JSON]:
    """What of these parts is the service's own, less signatures, which are another requirement's business."""
    for part in parts:
        match part:
            case Opaque(data=data):
                yield data
            case ExecutableCode(language=language, code=code):
                yield {"language": language, "code": code}
            case CodeExecutionResult(outcome=outcome, output=output):
                yield {"outcome": outcome, "output": output}
            case Text() | FunctionCall():
                said = part.provider_data.data if part.provider_data is not None else {}
                told = {name: value for name, value in said.items() if name != "signature"}
                if told:
                    yield {**told, "of": part.text if isinstance(part, Text) else part.id}
