"""A finding of a session that opens its own client becomes a file that has the conversation with the library alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...dialects import dialect as dialect_named
from ...dialects.contract import Dialect
from ...reproducer import LibrarySession, SessionReproducer
from ...run.bindings import resolve_subject
from ...run.transcript import ToolRun, WireRequest
from ...scenarios.model import Scenario
from .file_source import program_source
from .reproduction import Reproduction, TrialEnvironment, not_shown, scenario_of, summary_of
from .run_findings import Found, UnreproducibleError
from .session_question import SessionQuestion, held_texts_since, session_question
from .session_source import Conversation, program_of
from .session_turns import file_turns, is_cancelled, is_failing, turn_answers, turn_requests
from .trial import Trial


def reproduce_session(found: Found) -> Reproduction:
    """A file for the finding. Raises UnreproducibleError, with the reason, where none shows it."""
    subject = resolve_subject(found.adapter.spec)
    library = subject.session.reproducer
    if library is None:
        raise UnreproducibleError(f"the binding of {subject.name} does not say how its library is used (reproducer=)")
    return _FindingOfSession(found, library, dialect_named(subject.dialect), scenario_of(found)).reproduce()


class _FindingOfSession:
    """A finding with all that its files are made from."""

    def __init__(self, found: Found, library: SessionReproducer, dialect: Dialect, scenario: Scenario) -> None:
        self._found = found
        self._library = library
        self._base_path = dialect.service.base_path
        self._scenario = scenario
        self._question = session_question(found.finding, found.transcript)
        self._environment = TrialEnvironment.with_packages(library.packages, found)
        needed = self._environment.requirements
        self._story = summary_of(found, needed[0], needed)

    def reproduce(self) -> Reproduction:
        refusal: UnreproducibleError | None = None
        for first in range(self._question.first_turn, -1, -1):
            for session in (*self._bare(first), self._session(first)):
                try:
                    source, trial = self._attempt(first, session)
                except UnreproducibleError as error:
                    refusal = error
                    continue
                if trial.shown:
                    return self._environment.reproduction(source, trial, self._found)
                refusal = not_shown(trial, self._found)
        assert refusal is not None
        raise refusal

    def _session(self, first: int) -> LibrarySession:
        question, transcript = self._question, self._found.transcript
        options = {name: value for name, value in self._scenario.options.items() if name != "context_tokens"}
        return LibrarySession(
            transcript.model,
            self._scenario.system_in(first),
            self._scenario.tools_in(first),
            streamed=transcript.key.mode == "stream",
            options=options,
            held=question.sight in ("held", "shown-and-held"),
            cancelled=is_cancelled(self._scenario, first, question.turn),
        )

    def _bare(self, first: int) -> Iterator[LibrarySession]:
        """The conversation without what it may not need, barest first."""
        session, question = self._session(first), self._question
        if question.whole:
            return
        turn_numbers = range(first, question.turn + 1)
        tools_run = any(one.turn in turn_numbers for one in self._found.transcript.of(ToolRun))
        without = [] if tools_run or not session.tools else [replace(session, tools=())]
        if session.system:
            without = [*(replace(one, system=None) for one in without), *without, replace(session, system=None)]
        yield from without

    def _attempt(self, first: int, session: LibrarySession) -> tuple[str, Trial]:
        transcript, question = self._found.transcript, self._question
        turn_numbers = range(first, question.turn + 1)
        turns = file_turns(self._scenario, first, question.turn)
        answers = turn_answers(transcript, self._scenario, turn_numbers)
        if not answers:
            raise UnreproducibleError("the turns sent no request that was answered")
        try:
            session = replace(session, failing=is_failing(turns))
            code = self._library.code(session)
        except ValueError as error:
            raise UnreproducibleError(f"the library cannot have this conversation: {error}") from error
        if session.cancelled and code.cancel is None:
            raise UnreproducibleError("a turn is cancelled, and the binding does not say how the library does that")
        if session.held and code.held is None:
            raise UnreproducibleError("the binding does not say what the library holds")
        number = self._number(turn_requests(transcript, turn_numbers))
        conversation = Conversation(session, code, turns)
        program = program_of(self._asked_since(first), conversation, number, self._base_path)
        source = program_source(self._story, program, answers)
        return source, self._environment.try_source(source)

    def _asked_since(self, first: int) -> SessionQuestion:
        """The question where the conversation begins with a later turn: what was held before is not held then."""
        question = self._question
        if question.sight not in ("held", "shown-and-held"):
            return question
        texts = held_texts_since(self._found.transcript, first, question.turn)
        return replace(question, observed=texts if question.sight == "held" else [question.observed[0], texts])

    def _number(self, requests: list[WireRequest]) -> int:
        numbers = (number for number, one in enumerate(requests) if one.exchange == self._question.exchange)
        return next(numbers, 0)
