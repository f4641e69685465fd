"""The conversations of a well-behaved adapter that the cases spoil."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof import messages as m
from turnproof.dialects.base import PromptUsage, ReplyPart
from turnproof.judge.view import View
from turnproof.run.transcript import Cancelled, Collected, Loaded, Saved, Swapped, TurnEnded, WireResponse
from turnproof.scenarios.model import Cut, Fault

from .build import RunBuilder, error, scripted, spoilt

BED = {"type": "object", "properties": {"bed": {"type": "string"}, "litres": {"type": "number"}}, "required": ["bed"]}
READ = m.ToolSchema("read_sensor", "Read the moisture of one bed", BED)
WATER = m.ToolSchema("water_bed", "Water one bed", BED)
DOTTED = m.ToolSchema("bed.water", "Water by the can", BED)
COLON = m.ToolSchema("bed:water", "Water by the clock", BED)
SCHEMA = {"type": "object", "properties": {"bed": {"type": "string"}, "moist": {"type": "boolean"}}}
PNG = m.InlineData(mime_type="image/png", data=b"\x89PNG picture")
PDF = m.InlineData(mime_type="application/pdf", data=b"%PDF-1.7 list")

THREE = ReplyPart(m.Text("Bed 3 is moist."), ("Bed 3 ", "is ", "moist."))


def read(bed: str = "3", name: str = "toolu_1") -> m.FunctionCall:
    return m.FunctionCall(id=name, name="read_sensor", args={"bed": bed, "litres": 50})


def result(name: str = "toolu_1", value: object = "41 %", **fields: object) -> m.ToolResult:
    return m.ToolResult(call_id=name, name="read_sensor", result=value, **fields)  # type: ignore[arg-type]


def plain(**how: object) -> View:
    """Two turns of text."""
    builder = RunBuilder(scripted([THREE], user="How is bed 3?"), scripted(["It is."], user="Good?"), **how)  # type: ignore[arg-type]
    builder.turn("How is bed 3?").call(THREE).end()
    return builder.turn("Good?").call("It is.").end().view()


def tools(**how: object) -> View:
    """A turn with two parallel calls, one of which fails, and a turn after it."""
    builder = RunBuilder(
        scripted(["Let me look.", read(), read("4", "toolu_2")], [THREE], user="How are beds 3 and 4?"),
        scripted(["Yes."], user="Sure?"),
        tools=(READ, WATER),
        **how,  # type: ignore[arg-type]
    )
    builder.turn("How are beds 3 and 4?").call("Let me look.", read(), read("4", "toolu_2"))
    builder.results(result(), result("toolu_2", "no sensor", is_error=True)).call(THREE).end()
    return builder.turn("Sure?").call("Yes.").end().view()


CUT_CALL = ReplyPart(read(), ('{"bed": "3", ', '"lit'), broken=True)
"""A call that breaks off inside its arguments."""


def no_arguments(*others: ReplyPart) -> View:
    """A call without arguments, before others."""
    forecast = m.FunctionCall(id="toolu_1", name="forecast")
    builder = RunBuilder(scripted([forecast, *others]), tools=(m.ToolSchema("forecast"), READ))
    return builder.turn("Rain?").call(forecast, *others).end().view()


def broken(finish: m.FinishReason, mode: str = "stream") -> View:
    """An answer whose call breaks off inside its arguments; in one piece, it is returned with what was complete."""
    builder = RunBuilder(scripted(["Well.", CUT_CALL]), tools=(READ,), mode=mode)
    return builder.turn("Read!").call("Well.", CUT_CALL, finish=finish).end().view()


def odd_names() -> View:
    """Two tools whose names are rewritten for the wire, called in turn."""
    first = m.FunctionCall(id="toolu_1", name="bed.water", args={"bed": "3"})
    second = m.FunctionCall(id="toolu_2", name="bed:water", args={"bed": "4"})
    builder = RunBuilder(
        scripted([first, second], ["Done."], user="Water!"),
        tools=(DOTTED, COLON),
        names={"bed.water": "bed_water", "bed:water": "bed_water_2"},
    )
    builder.turn("Water!").call(first, second).results(result(), result("toolu_2")).call("Done.")
    return builder.end().view()


def cancelled(**how: object) -> View:
    """A turn cancelled in its text, and the turn after it."""
    builder = RunBuilder(
        scripted([THREE], user="Recite the log.", cancel=Cut("event", after="text:2"), expect="cancelled"),
        scripted(["It goes on."], user="Go on."),
        tools=(READ,),
        **how,  # type: ignore[arg-type]
    )
    # message_start, block start, ping, two pieces of text
    builder.turn("Recite the log.").call(THREE, cut=5).end("cancelled")
    return builder.turn("Go on.").call("It goes on.").end().view()


def cancelled_in_arguments() -> View:
    """A turn cancelled while the arguments of a call were coming."""
    builder = RunBuilder(
        scripted(["Yes.", read()], cancel=Cut("event", after="args:2"), expect="cancelled"), tools=(READ,)
    )
    return builder.turn("Read!").call("Yes.", read(), cut=8).end("cancelled").view()


def cancelled_batch() -> View:
    """A call in one piece, cancelled before its answer."""
    builder = RunBuilder(scripted([THREE], cancel=Cut("batch"), expect="cancelled"), mode="batch")
    return builder.turn("Recite the log.").call(THREE, cut=0).end("cancelled").view()


def cancelled_early() -> View:
    """A turn cancelled before its start; the adapter itself is called with a token that is set."""
    builder = RunBuilder(
        scripted([THREE], user="Recite.", cancel=Cut("before-start"), expect="cancelled"), scripted(["Yes."])
    )
    builder.turn("Recite.").add(Cancelled(at="before-start", turn=0)).take_back()
    builder.add(TurnEnded(outcome="cancelled", turn=0)).snapshot()
    return builder.turn("There?").call("Yes.").end().called_with_a_set_token(error("Cancelled")).view()


def cancelled_in_backoff() -> View:
    """A turn cancelled while the session waits for its second attempt."""
    fault = Fault("status", status=529)
    builder = RunBuilder(scripted([THREE], cancel=Cut("backoff"), faults=(fault,), expect="cancelled"))
    builder.turn("Recite.").refused(529, error("OverloadedError", status=529, retryable=True)).retried()
    builder.add(Cancelled(at="backoff", turn=0), TurnEnded(outcome="cancelled", turn=0))
    return builder.view()


def cancelled_in_tools() -> View:
    """A turn cancelled while its tool ran; the call is answered as cancelled."""
    builder = RunBuilder(
        scripted([read()], user="Read!", cancel=Cut("tool"), expect="cancelled"), scripted(["No."]), tools=(READ,)
    )
    builder.turn("Read!").call(read()).add(Cancelled(at="tool", turn=0))
    builder.results(result(value="cancelled", is_error=True)).end("cancelled")
    return builder.turn("Did you?").call("No.").end().view()


def overloaded(status: int = 529, name: str = "OverloadedError") -> View:
    """A call refused with a status that passes, and the attempt that goes well."""
    builder = RunBuilder(scripted([THREE], user="Hi.", faults=(Fault("status", status=status),)))
    raised = error(name, status=status, retryable=True, retry_after=7.0)
    builder.turn("Hi.").refused(status, raised, retry_after=7).retried()
    return builder.call(THREE).end().view()


def refused(status: int = 400, name: str = "InvalidRequestError", message: str | None = None) -> View:
    """A turn that the API refuses for good, and the turn after it."""
    fault = Fault("status", status=status, times=3)
    builder = RunBuilder(
        scripted(["Hello."], user="Hello?"),
        scripted([THREE], user="Now this.", faults=(fault,), expect="error"),
        scripted(["Yes."], user="There?"),
        path="legacy",
    )
    builder.turn("Hello?").call("Hello.").end()
    builder.turn("Now this.").refused(status, error(name, status=status), message).take_back().end("error")
    return builder.turn("There?").call("Yes.").end().view()


def too_long(shorter: bool = True) -> View:
    """A prompt that does not fit, and the shorter one after it."""
    builder = RunBuilder(
        scripted(["Noted."], user="First. " * 40), scripted(["Noted."], user="Second."), tools=(READ,), system="Log."
    )
    builder.turn("First. " * 40).call("Noted.").end().turn("Second.")
    builder.refused(400, error("ContextLimitError", status=400), "prompt is too long: 300 tokens > 200 maximum")
    if shorter:
        del builder.history[:2]
    return builder.call("Noted.").end().view()


def cut_off(fault: str, **how: object) -> View:
    """A stream that breaks, and the attempt that goes well."""
    builder = RunBuilder(scripted([THREE], user="Hi.", faults=(Fault(fault),)), **how)  # type: ignore[arg-type]
    builder.turn("Hi.").call(THREE, fault=fault, returns=False)
    builder.failed(error("TransportError", retryable=True)).retried()
    return builder.call(THREE).end().view()


def resent_results() -> View:
    """Results that were sent twice because the first attempt failed."""
    builder = RunBuilder(
        scripted([read()], [THREE], user="Read!", faults=(Fault("status", round=1, status=529),)), tools=(READ,)
    )
    builder.turn("Read!").call(read()).results(result())
    builder.refused(529, error("OverloadedError", status=529, retryable=True)).retried()
    return builder.call(THREE).end().view()


def disturbed(fault: str, cut: ReplyPart | None = None) -> View:
    """A stream whose bytes arrive in an awkward way."""
    call = read() if cut is None else cut
    builder = RunBuilder(scripted(["Größe ☀", call]), tools=(READ,))
    return builder.turn("Hi.").call("Größe ☀", call, fault=fault).end().view()


def overlapping() -> View:
    """A stream with several blocks open at once."""
    answer = ("Größe ☀", read(), read("4", "toolu_2"))
    run = RunBuilder(scripted(list(answer)), name="faults/overlapping_blocks", tools=(READ,))
    view = run.turn("Hi.").call(*answer, fault="respelled").end().view()
    return spoilt(view, WireResponse, lambda event: replace(event, spelling="overlapping"))


def thinking(**how: object) -> View:
    """Thinking, signed and redacted, before a call."""
    builder = RunBuilder(
        scripted([m.Thought(text="I must look."), read()], [THREE], user="How is bed 3?"),
        tools=(READ,),
        options={"thinking": {"budget_tokens": 1024}},
        **how,  # type: ignore[arg-type]
    )
    secret = m.Thought(provider_data=m.ProviderData("anthropic-messages", "claude-sonnet-4-5", {"redacted": "RW5j"}))
    thought = ReplyPart(m.Thought(text="I must look."), ("I must ", "look."))
    builder.turn("How is bed 3?").call(thought, secret, read()).results(result())
    return builder.call(m.Thought(text="It is known."), THREE).end().view()


def structured() -> View:
    """An answer by a schema, with tools in force."""
    text = '{"bed": "3", "moist": true}'
    builder = RunBuilder(scripted([text]), tools=(READ,))
    return builder.turn("How is bed 3?").call(text, schema=SCHEMA).end().view()


def pictures(**how: object) -> View:
    """An image between texts, a document, and an image in a tool's result."""
    builder = RunBuilder(scripted([read()], ["Basil."]), tools=(READ,), **how)  # type: ignore[arg-type]
    builder.turn("What grows here?", PNG, "And is it on this list?", PDF).call(read())
    return builder.results(result(attachments=(PNG,))).call("Basil.").end().view()


def collected(**how: object) -> View:
    """History collected between two turns with tools."""
    builder = RunBuilder(
        scripted([read()], ["Moist."], user="How is bed 3?"),
        scripted([read("4", "toolu_2")], ["Dry."], user="And bed 4?"),
        scripted(["Water bed 4."], user="So?", before=("gc",)),
        tools=(READ,),
        **how,  # type: ignore[arg-type]
    )
    builder.turn("How is bed 3?").call(read()).results(result()).call("Moist.").end()
    builder.turn("And bed 4?").call(read("4", "toolu_2")).results(result("toolu_2")).call("Dry.").end()
    before = tuple(message.message_id for message in builder.history)
    builder.operated("gc", Collected(before=before, after=before[4:]), history=builder.history[4:])
    return builder.turn("So?").call("Water bed 4.").end().view()


def saved() -> View:
    """A conversation saved and loaded between two turns."""
    builder = RunBuilder(scripted(["Moist."], user="How?"), scripted(["Yes."], user="Sure?", before=("save-load",)))
    builder.turn("How?").call("Moist.").end()
    builder.operated("save-load", Saved(data="[]"), Loaded(messages=tuple(builder.history)))
    return builder.turn("Sure?").call("Yes.").end().view()


def swapped() -> View:
    """A conversation whose provider object was replaced between two turns."""
    builder = RunBuilder(scripted(["Moist."], user="How?"), scripted(["Yes."], user="Sure?", before=("new-provider",)))
    builder.turn("How?").call("Moist.").end().add(Swapped(name="made", turn=1))
    return builder.turn("Sure?").call("Yes.").end().view()


def growing(turns: int = 6) -> View:
    """A cached conversation: what one request stores, the next one reads."""
    builder = RunBuilder(
        *(scripted(["Noted."], user=f"Entry {n}.") for n in range(turns)), cache=True, tools=(READ, WATER)
    )
    for n in range(turns):
        builder.history = [_marked(message, False) for message in builder.history]
        builder.turn(f"Entry {n}.")
        builder.history[-1] = _marked(builder.history[-1], True)
        stored = 2000 + 500 * n
        counted = PromptUsage(5, cache_read=stored - 500 if n else 0, cache_write_5m=500 if n else stored)
        builder.call("Noted.", prompt=counted).end()
    return builder.view()


def _marked(message: m.Message, mark: bool) -> m.Message:
    parts = tuple(
        m.Text(part.text, cache=m.CacheMark() if mark else None) if isinstance(part, m.Text) else part
        for part in message.parts
    )
    return m.Message(message.role, parts, message.message_id)


def probed(probe: str, answer: str | m.Part | ReplyPart = THREE) -> View:
    """A call, and the same call made again by a probe."""
    builder = RunBuilder(scripted([answer], user="Hi."), tools=(READ,))
    builder.turn("Hi.")
    history = list(builder.history)
    builder.call(answer).end()
    builder.history = history
    return builder.call(answer, probe=probe).view()


def answered_turns(name: str, mode: str = "batch", options: dict[str, object] | None = None) -> View:
    """Two turns of text in a scenario of this name."""
    builder = RunBuilder(
        scripted([THREE], user="Hi."), scripted(["Yes."], user="There?"), name=name, mode=mode, options=options
    )
    return builder.turn("Hi.").call(THREE).end().turn("There?").call("Yes.").end().view()
