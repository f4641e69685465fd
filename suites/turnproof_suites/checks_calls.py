"""Tools, incoming: calls come back as the model made them, and what is no whole call never runs."""

from __future__ import annotations

from turnproof.messages import FinishReason, FunctionCall
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import ProviderCall, View
from turnproof.view.diff import differences, equal, show

from .reading import answered, by_place, calls_in, excerpt


@check("tools/call-ids-are-kept")
def call_ids_are_kept(view: View) -> Findings:
    """The provider's own ids come back from the adapter; where there are none, each call gets one of its own."""
    for one in answered(view):
        answer = one.call.answer
        sent, got = calls_in(answer.parts if answer is not None else ()), calls_in(one.response.parts)
        if not sent or len(sent) != len(got):
            continue
        if not any(call.id for call in sent):
            ids = {call.id for call in got}
            if len(ids) < len(got) or not all(ids):
                yield violated(f"{one.where}: the calls came without ids, the adapter returned {sorted(ids)} for them")
            else:
                yield "call ids that had to be made up"
            continue
        wrong = [(a.id, b.id) for a, b in zip(sent, got, strict=True) if a.id != b.id]
        if wrong and sorted(call.id for call in sent) != sorted(call.id for call in got):
            yield violated(
                f"{one.where}: the wire carried the call id {wrong[0][0]!r}, the adapter returned {wrong[0][1]!r}"
            )
        else:
            yield "call ids"


@check(
    "tools/arguments-keep-their-values",
    aspect=lambda view: by_place(
        view, ((one.call, [[c.name, c.args] for c in one.response.calls]) for one in answered(view))
    ),
)
def arguments_keep_their_values(view: View) -> Findings:
    """Every value with its JSON type: `"50"` is not 50, and `"true"` is not true."""
    for one in answered(view):
        sent, got = calls_in(one.wire.parts), {call.id: call for call in calls_in(one.response.parts)}
        for call in sent:
            if not call.args or call.id not in got:
                continue
            found = differences(call.args, got[call.id].args, names=("wire", "response"))
            if found:
                yield violated(f"{one.where}: arguments of {call.name!r} at {found[0]}", detail="\n".join(found))
            else:
                yield "arguments"


@check("tools/no-arguments-are-an-empty-object")
def no_arguments_are_an_empty_object(view: View) -> Findings:
    """A call without arguments is a call with `{}`, in whatever form the wire leaves them out."""
    for call in view.calls:
        wire = call.answer
        if wire is None:
            continue
        for made in (made for made in calls_in(wire.parts) if not made.args):
            if call.failed is not None:
                yield violated(
                    f"{call.where}: a call of {made.name!r} without arguments made the adapter raise "
                    f"{call.failed.error}: {call.failed.message}",
                    detail=excerpt(call.last),
                )
                continue
            found = {one.id: one for one in call.response.calls} if call.response is not None else {}
            if made.id in found and not equal(found[made.id].args, {}):
                yield violated(
                    f"{call.where}: the call of {made.name!r} has no arguments, got {show(found[made.id].args)}"
                )
            elif made.id in found:
                yield "calls without arguments"


@check("tools/clipped-calls-are-not-returned")
def clipped_calls_are_not_returned(view: View) -> Findings:
    """A call that the output limit cut off is neither returned nor announced; the rest of the answer may be."""
    for call in view.calls:
        wire = call.answer
        if wire is None or wire.finish is not FinishReason.MAX_TOKENS:
            continue
        clipped = _clipped_in_one_piece(call)
        if wire.broken_calls or clipped:
            yield from _never_runs(call, "cut off by the output limit", clipped)


def _clipped_in_one_piece(call: ProviderCall) -> frozenset[str]:
    """The id of a last call that looks whole: in one piece it has the members that were complete, and only the script
    knows that there should have been more."""
    parts = call.answer.parts if call.answer is not None else ()
    scripted = call.script.parts if call.script is not None else ()
    if parts and scripted and scripted[-1].broken and isinstance(last := parts[-1], FunctionCall):
        return frozenset({last.id})
    return frozenset()


@check("tools/broken-arguments-never-run")
def broken_arguments_never_run(view: View) -> Findings:
    """Arguments that are no JSON never become a call, least of all one with `{}`."""
    for call in view.calls:
        wire = call.answer
        if wire is not None and wire.broken_calls and wire.finish is not FinishReason.MAX_TOKENS:
            yield from _never_runs(call, "with arguments that are no JSON")


def _never_runs(call: ProviderCall, what: str, clipped: frozenset[str] = frozenset()) -> Findings:
    whole = {made.id for made in calls_in(call.answer.parts)} - clipped if call.answer is not None else set()
    returned = [made for made in (call.response.calls if call.response is not None else ()) if made.id not in whole]
    announced = [made for made in call.function_calls if made.id not in whole]
    if returned:
        yield violated(
            f"{call.where}: a call {what} was returned as {returned[0].name!r} with {show(returned[0].args)}",
            detail=excerpt(call.last),
        )
    elif announced:
        yield violated(f"{call.where}: a call {what} was announced with {show(announced[0].args)}")
    elif call.response is not None or call.failed is not None:
        yield f"calls {what}"


@check("tools/tool-use-comes-with-calls")
def tool_use_comes_with_calls(view: View) -> Findings:
    """Nobody can answer a tool use that has no calls."""
    for call in view.calls:
        if call.response is None or call.response.finish_reason is not FinishReason.TOOL_USE:
            continue
        if call.response.calls:
            yield "tool uses"
        else:
            yield violated(f"{call.where}: the response ended with tool_use and has no call", detail=excerpt(call.last))


@check("tools/parallel-calls-stay-apart")
def parallel_calls_stay_apart(view: View) -> Findings:
    """Several calls in one answer: as many come back, each with an id, name and arguments of its own."""
    for one in answered(view):
        sent, got = calls_in(one.wire.parts), calls_in(one.response.parts)
        if len(sent) < 2:
            continue
        if len(got) != len(sent):
            yield violated(f"{one.where}: the wire carried {len(sent)} calls, the adapter returned {len(got)}")
        elif len({call.id for call in got}) != len(got):
            yield violated(f"{one.where}: two calls came back under one id: {[call.id for call in got]}")
        else:
            yield "parallel calls"
