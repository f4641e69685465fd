"""A finding becomes a file that shows it with the library alone, or the reason why none can."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...dialects import dialect as dialect_named
from ...judge.view.documents import CALLBACKS
from ...provider import Binding
from ...reproducer import ErrorReproducer, LibraryCall, Reproducer
from ...run.bindings import resolve_subject
from ...run.transcript import CallBegan, Cancelled, Chunk, Transcript, WireRequest, WireResponse
from .contract_code import BEFORE, ContractCall, ContractCode
from .file_source import file_source
from .question import NO_KINDS, Question, question_of
from .recorded_answers import RecordedAnswer, answers_of, exchanges_of, held_answer, opening_exchanges
from .reproduce_session import reproduce_session
from .reproduction import Reproduction, TrialEnvironment, not_shown, scenario_of, summary_of
from .run_findings import Found, UnreproducibleError, find
from .trial import Trial

_MOST_TRIED = 6
"""Runs of a finding that are tried, until one shows it."""


def reproduce(
    folder: Path, code: str, *, adapter: str | None = None, scenarios: Sequence[str] = (), path: str | None = None
) -> Reproduction:
    """A file for the first finding with this code, or of this requirement, that the library alone shows.

    Raises UsageError where the run has no such finding, and UnreproducibleError, with the reasons, where no file shows
    one of them.
    """
    reasons: dict[str, None] = {}
    for found in find(folder, code, adapter=adapter, scenarios=scenarios, path=path, most=_MOST_TRIED):
        try:
            return reproduce_session(found) if found.adapter.kind == "session" else _reproduce(found)
        except UnreproducibleError as error:
            reasons[str(error)] = None
    raise UnreproducibleError("; ".join(reasons))


def _demand_chunks(call: LibraryCall) -> None:
    """Raise UnreproducibleError for a call that gives no chunks, where they are what is looked at."""
    if call.wanted == "chunks" and not call.streamed:
        raise UnreproducibleError("an answer in one piece has no chunks")


def _reproduce(found: Found) -> Reproduction:
    binding = _binding(found)
    library = _library(found, binding)
    dialect = dialect_named(binding.dialect)
    own_types = isinstance(library, ContractCode)
    kinds = library.errors if isinstance(library, ErrorReproducer) else NO_KINDS
    question = question_of(found.finding, found.transcript, dialect, own_types=own_types, kinds=kinds)
    opening = opening_exchanges(found.transcript, question.call, question.probe)
    requests = exchanges_of(found.transcript, question.call, question.probe)
    answers = answers_of(found.transcript, [*opening, *requests])
    whole = _call(found, binding, question, own_types=own_types)
    if whole.left_after is not None:
        answers = _held_answers(answers, found.transcript, requests)
    if question.sight == "raised" and not requests:
        question = replace(question, before_requests=True)
    elif len(answers) == len(opening) and question.sight != "requests" and not _is_cancelled(whole):
        raise UnreproducibleError("the call sent no request that was answered")
    environment = TrialEnvironment.with_packages(library.packages, found, _paths(library, found.adapter.spec))
    needed = environment.requirements
    summary = summary_of(found, binding.name if own_types else needed[0], needed)
    base_path = dialect.service.base_path

    def attempt(call: LibraryCall) -> tuple[str, Trial]:
        if not own_types:
            _demand_chunks(call)
        narrowed, sent_answers = _shifted_question(question, len(opening)), answers
        if question.others or (isinstance(call, ContractCall) and call.earlier):
            narrowed, sent_answers = _with_earlier(question, found.transcript)
        try:
            code = library.code(call)
            if narrowed.sight == "loops" and not code.opening:
                raise ValueError("its code does not say what is opened once for several calls (`opening`)")
            source = file_source(summary, narrowed, code, sent_answers, base_path)
        except ValueError as error:
            raise UnreproducibleError(f"the library cannot make this call: {error}") from error
        return source, environment.try_source(source)

    refusal: UnreproducibleError | None = None
    trial: Trial | None = None
    calls = list(_with_calls_before(whole, found, question))
    if not (question.earlier and _calls_before(found.transcript, question)):
        calls = [*_shorter_calls(whole, question), *calls]
    for call in calls:
        try:
            source, trial = attempt(call)
        except UnreproducibleError as error:
            refusal = error
            continue
        if trial.shown:
            shown = (one for one in map(attempt, _bare_calls(call, question)) if one[1].shown)
            source, trial = next(shown, (source, trial))
            return environment.reproduction(source, trial, found)
    if refusal is not None:
        raise refusal
    if trial is None:
        raise UnreproducibleError("what is wrong follows from earlier calls, and these cannot be made in a file")
    raise not_shown(trial, found)


def _binding(found: Found) -> Binding:
    if found.adapter.kind != "adapter":
        raise UnreproducibleError(f"{found.adapter.name} is a {found.adapter.kind}; a file makes calls of a library")
    return resolve_subject(found.adapter.spec).adapter


def _library(found: Found, binding: Binding) -> Reproducer:
    """How the library is called: as the binding says, else the adapter itself is the library."""
    if binding.reproducer is not None:
        return binding.reproducer
    name = found.adapter.spec.partition("=")[0]
    if ":" not in name:
        raise UnreproducibleError(f"the binding of {binding.name} does not say how its library is called (reproducer=)")
    if binding.signature != "full" or binding.errors != "raised":
        raise UnreproducibleError(f"the adapter of {binding.name} has a calling form of its own, and no reproducer=")
    return ContractCode(binding, name)


def _paths(library: Reproducer, spec: str) -> tuple[str, ...]:
    """The folder of the adapter's module, where that is what is called and no package has it."""
    if not isinstance(library, ContractCode):
        return ()
    name = spec.partition(":")[0]
    file = getattr(importlib.import_module(name), "__file__", None)
    if file is None or "site-packages" in file:
        return ()
    return (str(Path(file).resolve().parents[name.count(".")]),)


def _call(found: Found, binding: Binding, question: Question, *, own_types: bool) -> LibraryCall:
    """The call as the adapter got it."""
    began = next(
        one for one in found.transcript.of(CallBegan) if (one.call, one.probe) == (question.call, question.probe)
    )
    options = {**binding.options, **scenario_of(found).options}
    options.pop("context_tokens", None)
    member = str(question.steps[0]) if question.sight in ("answer", "unnamed", "returned") else "text"
    if own_types:
        return _contract_call(began, found.transcript, options, member)
    if began.response_schema is not None:
        raise UnreproducibleError("the call asked for structured output, which no code of a library writes yet")
    left_after = _left_after(began, found.transcript)
    return LibraryCall(
        found.transcript.model,
        began.messages,
        began.system,
        began.tools,
        streamed=began.streamed,
        options=options,
        wanted=member,
        left_after=left_after,
    )


def _left_after(began: CallBegan, transcript: Transcript) -> int | None:
    """After how many pieces of text a call was cancelled; None for one that was not."""
    if _cancelled_after(began, transcript) is None:
        return None
    of_call = [one for one in transcript.events if (one.call, one.probe) == (began.call, began.probe)]
    before = takewhile(lambda one: not isinstance(one, Cancelled), of_call)
    count = sum(isinstance(one, Chunk) for one in before)
    if not (began.streamed and count):
        raise UnreproducibleError("the call was cancelled before it gave a piece of text, which a file cannot time")
    return count


def _held_answers(
    answers: tuple[RecordedAnswer, ...], transcript: Transcript, requests: Sequence[WireRequest]
) -> tuple[RecordedAnswer, ...]:
    """The answers, where the last one is held from the cancel on until the client leaves."""
    last = requests[-1].exchange if requests else -1
    response = next((one for one in transcript.of(WireResponse) if one.exchange == last), None)
    if response is None or not answers:
        raise UnreproducibleError("the call was cancelled before it was answered")
    return (*answers[:-1], held_answer(answers[-1], response))


def _contract_call(
    began: CallBegan, transcript: Transcript, options: Mapping[str, Any], member: str = "text"
) -> ContractCall:
    return ContractCall(
        transcript.model,
        began.messages,
        began.system,
        began.tools,
        streamed=began.streamed,
        options=options,
        wanted=member,
        path=began.path or transcript.key.path,
        schema=began.response_schema,
        cancelled_after=_cancelled_after(began, transcript),
    )


def _cancelled_after(began: CallBegan, transcript: Transcript) -> int | None:
    """After how many callbacks a call was cancelled; None for one that was not."""
    of_call = [one for one in transcript.events if (one.call, one.probe) == (began.call, began.probe)]
    for number, event in enumerate(of_call):
        if isinstance(event, Cancelled):
            return sum(isinstance(one, CALLBACKS) for one in of_call[:number])
    before = (one for one in transcript.of(Cancelled) if one.turn == began.turn and one.at == "before-start")
    return BEFORE if next(before, None) is not None else None


def _is_cancelled(call: LibraryCall) -> bool:
    return isinstance(call, ContractCall) and call.cancelled_after is not None


def _calls_before(transcript: Transcript, question: Question) -> list[CallBegan]:
    """The calls that the same object answered before, in order."""
    every = [one for one in transcript.of(CallBegan) if not one.probe and not one.child]
    return sorted((one for one in every if one.call < question.call), key=lambda one: one.call)


def _with_calls_before(whole: LibraryCall, found: Found, question: Question) -> Iterator[LibraryCall]:
    """The whole call behind all that came before it, where the object that answers it keeps something from them."""
    if not isinstance(whole, ContractCall) or whole.path != "stateless" or question.sight == "requests":
        return
    before = _calls_before(found.transcript, question)
    if before and all(one.path in (None, "stateless") for one in before):
        earlier = [_contract_call(one, found.transcript, whole.options) for one in before]
        if not any(map(_is_cancelled, earlier)):
            yield replace(whole, earlier=earlier)


def _shifted_question(question: Question, count: int) -> Question:
    """The question in a file whose server gets so many requests ahead of those of the call."""
    counted = question.observed + count if question.sight == "requests" else question.observed
    return replace(question, request=question.request + count, observed=counted)


def _with_earlier(question: Question, transcript: Transcript) -> tuple[Question, tuple[RecordedAnswer, ...]]:
    """The question in a file that makes the earlier calls too, and the answers to all their requests."""
    calls = [one.call for one in _calls_before(transcript, question)]
    before = opening_exchanges(transcript, question.call, question.probe)
    before += [one for call in calls for one in exchanges_of(transcript, call, question.probe)]
    requests = [*before, *exchanges_of(transcript, question.call, question.probe)]
    numbers = {one.exchange: number for number, one in enumerate(requests)}
    if any(exchange not in numbers for exchange, _ in question.others):
        raise UnreproducibleError("it compares with a request that comes later")
    narrowed = replace(
        _shifted_question(question, len(before)),
        others=tuple((numbers[exchange], steps) for exchange, steps in question.others),
    )
    return narrowed, answers_of(transcript, requests)


def _shorter_calls(call: LibraryCall, question: Question) -> Iterator[LibraryCall]:
    """The call with ever more of its conversation, each from a message of the user on; the whole one last."""
    starts = [n for n, message in enumerate(call.messages) if n and message.role == "user"]
    for start in reversed([n for n in starts if n <= question.first_message]):
        yield replace(call, messages=call.messages[start:])
    yield call


def _bare_calls(call: LibraryCall, question: Question) -> Iterator[LibraryCall]:
    """The call without what it may not need, barest first."""
    if question.whole or (isinstance(call, ContractCall) and call.earlier):
        return
    with_calls = any(message.calls or message.results for message in call.messages)
    if call.tools and call.system and not with_calls:
        yield replace(call, tools=(), system=None)
    if call.tools and not with_calls:
        yield replace(call, tools=())
    if call.system:
        yield replace(call, system=None)
