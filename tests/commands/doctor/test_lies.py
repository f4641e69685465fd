"""Bindings that lie, each in one way: what was seen is said, and what the binding has to say instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turnproof.commands.doctor.binding import binding
from turnproof.commands.doctor.claims import PROBES, claims
from turnproof.commands.doctor.habits import HABITS
from turnproof.commands.doctor.model import Diagnostic, State
from turnproof.judge.requirements import load_suite
from turnproof.provider import Binding
from turnproof.run.driver import Runner

from . import lies

pytestmark = pytest.mark.long

BINDINGS = {name: value for name, value in vars(lies).items() if isinstance(value, Binding)}
INSTALLED = ("ANTHROPIC", "GOOGLE", "OPENAI")

CLAIMED = {
    "TOOLS_NOT_SENT": ("tools", "A tool that is in force is missing from the request"),
    "PARALLEL_CALLS_LOST": ("parallel_tools", "expected 3 calls; got 1"),
    "THINKING_NOT_SWITCHED_ON": ("thinking", "does not ask for the thinking that is switched on"),
    "THINKING_AS_TEXT": ("thinking", "Thinking was returned as text"),
    "THOUGHTS_IN_ONE": ("separate_thoughts", "The thoughts in the response are not those of the answer"),
    "SCHEMA_NOT_SENT": ("structured", "The schema for the answer is missing"),
    "OUTPUT_NOT_PARSED": ("structured", "`structured_output` is not the JSON"),
    "IMAGES_DROPPED": ("images", "An image of the user is missing"),
    "URLS_REFUSED": ("image_urls", "The call raised InvalidRequestError: images are sent as bytes"),
    "DOCUMENTS_DROPPED": ("documents", "A document of the user is missing"),
    "ATTACHMENTS_DROPPED": ("result_images", "that a tool returned is missing"),
    "CANCEL_IGNORED": ("cancel", "returned a response without `finish_reason=cancelled`"),
    "CANCEL_SEEN_AT_THE_NEXT_PIECE": ("cancel", "A cancel had no effect while the stream was silent"),
    "CANCEL_BEFORE_THE_STREAM": ("cancel", "A stream that was cancelled raised an error"),
    "CANCEL_SEEN_IN_TEXTS_ALONE": ("cancel", "returned a response without `finish_reason=cancelled`"),
    "OWN_ERRORS": ("typed_errors", "expected a ProviderError; got RuntimeError"),
    "ONE_CLASS_OF_ERRORS": ("typed_errors", "The class of the error does not fit"),
    "NO_USAGE": ("usage", "expected 21 prompt tokens; got 0"),
    "NO_FINISH_WORD": ("finish_words", 'expected "end_turn" as `raw_finish`'),
    "NO_EARLY_USAGE": ("early_usage", "The cancelled response has no prompt tokens"),
    "NO_FINISH": ("finish_reasons", 'expected the finish reason "stop"'),
    "TEXT_AFTER_CALLS": ("part_order", "The callbacks came in another order"),
    "NO_MARKS": ("cache:explicit", "No message of a long conversation has a cache mark"),
}
"""By binding: the claim that is not so, and what is seen of it."""

WORKING = {
    "TOOLS_NOT_CLAIMED": "tools",
    "IMAGES_NOT_CLAIMED": "images",
    "ERRORS_NOT_CLAIMED": "typed_errors",
    "CANCEL_NOT_CLAIMED": "cancel",
}
"""By binding: what it does not claim, although it works."""

HABITUAL = {
    "PIECE_AFTER_CANCEL": ("pieces after a cancel", "A piece of text was passed on after", "await asyncio.sleep(0)"),
    "THINKING_LOST_IN_CANCEL": ("thinking of a cancelled answer", "does not have the thinking", "beside the texts"),
    "NAMES_IN_SMALL_LETTERS": (
        "names of tools",
        "under another name than the session's",
        "the name that its tool was declared by",
    ),
    "ID_FOR_EACH_RESULT": ("ids drawn for each call", "A repeated request differs", "make it from the id of the call"),
    "ANSWERS_STORED": ("answers that the service stores", "the service keeps an answer", "such as `store=False`"),
    "UNREADABLE_STREAM": ("errors of streams", "an error that is not a ProviderError", "is a TransportError"),
    "OWN_REFUSAL": ("errors of the library's own", "an error that is not a ProviderError", "is an InvalidRequestError"),
}
"""By binding: what bindings often do, what is seen of it, and what to do instead."""

OTHERWISE_WRONG = {
    "CALLS_NOT_RETURNED": ("the response has no FunctionCall", "do not claim tools"),
    "NOTHING_STREAMED": ("on_chunk was never called", "do not claim streaming"),
    "STREAMED_TWICE": ("on_chunk got 'Bed 3 is at 4Bed 3 is at 4", "once"),
    "CHAT_FOR_ANTHROPIC": ("/chat/completions is a request of openai-chat", "write dialect='openai-chat'"),
    "ANTHROPIC_FOR_CHAT": ("/v1/messages is a request of anthropic-messages", "write dialect='anthropic-messages'"),
    "GOOGLE_FOR_ANTHROPIC": ("is a request of gemini", "write dialect='gemini'"),
    "OWN_MODEL": ("asked for the model 'claude-haiku-4-5'", "pass on endpoint.model"),
    "RETURNS_NONE": ("complete() returned None", "return ProviderResponse(parts, usage, finish_reason)"),
    "RETURNS_DICT": ("complete() returned dict", "read the fields of the dict"),
    "RETURNS_PARTS": ("complete() returned tuple", "return ProviderResponse(parts, usage, finish_reason)"),
    "RETURNS_MESSAGE": ("complete() returned Message", "return ProviderResponse(message.parts"),
    "RETURNS_GENERATOR": ("complete() returned generator", "pass each piece of text to on_chunk"),
    "RETURNS_OUTCOME": ("complete() returned Outcome", 'errors="returned"'),
    "EMPTY_OUTCOME": ("with neither a response nor an error", "see provider.Outcome"),
    "PARTS_OF_DICTS": ("$.parts[0]", "use the types of turnproof.messages"),
    "NO_SUCH_FINISH": ("$.finish_reason", "use the types of turnproof.messages"),
    "CHUNKS_OF_BYTES": ("on_chunk was called with bytes instead of str", "decoded"),
    "USAGE_AS_DICT": ("on_usage_update was called with dict", "TokenUsage("),
    "SDK_OF_ANOTHER_VERSION": ("argument 'temperature' before a request arrived", "do not fit"),
    "SDK_OPTION": ("unexpected keyword argument 'ssl_context'", "endpoint's base_url, api_key, model and options"),
    "OPENS_NONE": ("open_stateless returned None, which has no complete()", "return the adapter"),
    "OPENS_A_CLASS": ("open_stateless returned the class Wrapped", "return an object of it"),
    "SHORT_SIGNATURE": ("eight arguments by position", "say the other signature"),
}
"""By binding: what is seen of it in a round trip, and what to do."""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(in_process=True, bindings=BINDINGS) as runner:
        yield runner


def of_claim(found: Iterator[Diagnostic], claim: str) -> Diagnostic:
    return next(one for one in found if one.what == f"claim {claim}")


def test_every_lie_is_in_one_table_and_there_are_thirty_at_least() -> None:
    lies_told = BINDINGS.keys() - set(INSTALLED)
    tables = [
        *CLAIMED,
        *WORKING,
        *HABITUAL,
        *OTHERWISE_WRONG,
        "EMPTY_HISTORY_REFUSED",
        "STREAMING_NOT_CLAIMED",
        "OTHER_APIS_MODEL",
    ]
    assert sorted(tables) == sorted(lies_told)
    assert len(tables) >= 30


@pytest.mark.parametrize("name", CLAIMED)
def test_a_claim_that_is_not_met_is_named_with_what_to_write_instead(runner: Runner, name: str) -> None:
    claim, seen = CLAIMED[name]
    found = of_claim(claims(runner, name), claim)
    key, _, kind = claim.partition(":")
    assert found.state is State.WRONG
    assert seen in found.said
    value = '"none"' if kind else "False"
    assert f"write Capabilities({key}={value})" in found.do
    assert f"turnproof certify {name} --only " in found.do


@pytest.mark.parametrize("name", WORKING)
def test_what_works_and_is_not_claimed_is_a_warning(runner: Runner, name: str) -> None:
    found = of_claim(claims(runner, name), WORKING[name])
    assert (found.state, found.said) == (State.WARNING, "it is not claimed, and works")
    assert f"write Capabilities({WORKING[name]}=True)" in found.do


@pytest.mark.parametrize("name", HABITUAL)
def test_what_bindings_often_do_is_a_warning(runner: Runner, name: str) -> None:
    what, seen, advice = HABITUAL[name]
    (found,) = [one for one in claims(runner, name) if one.state is not State.OK]
    assert (found.what, found.state) == (what, State.WARNING)
    assert seen in found.said
    assert advice in found.do


@pytest.mark.parametrize("name", OTHERWISE_WRONG)
def test_what_a_round_trip_shows_is_said_with_what_to_do(runner: Runner, name: str) -> None:
    seen, advice = OTHERWISE_WRONG[name]
    wrong = [one for one in binding(runner, name) if one.state is State.WRONG]
    assert wrong
    for found in wrong:
        assert seen in found.said
        assert advice in found.do


def test_streaming_that_is_not_claimed_is_a_warning(runner: Runner) -> None:
    (found,) = [one for one in binding(runner, "STREAMING_NOT_CLAIMED") if one.state is not State.OK]
    assert (found.what, found.state) == ("streaming", State.WARNING)


def test_a_model_of_another_api_is_a_warning_since_a_gateway_may_have_it(runner: Runner) -> None:
    (found,) = [one for one in binding(runner, "OTHER_APIS_MODEL") if one.state is not State.OK]
    assert (found.what, found.state) == ("model", State.WARNING)
    assert "'gpt-5-mini' is a model of openai-chat and openai-responses" in found.said


@pytest.mark.parametrize("name", INSTALLED)
def test_a_true_binding_is_accused_of_nothing(runner: Runner, name: str) -> None:
    found = [*binding(runner, name), *claims(runner, name)]
    assert [one for one in found if one.state is not State.OK] == []
    assert found[-1].what == "claims"


def test_what_a_probe_beside_the_conversation_meets_speaks_against_no_claim(runner: Runner) -> None:
    assert [one for one in claims(runner, "EMPTY_HISTORY_REFUSED") if one.state is not State.OK] == []


def test_probes_name_what_the_suite_has() -> None:
    known = {requirement.id for requirement in load_suite().requirements}
    assert {name for probe in PROBES for name in probe.requirements} | {one.requirement for one in HABITS} <= known
