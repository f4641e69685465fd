"""Every mistake in a turn is refused with the file, the spot, its line and the reason.

A table, because that is what an author needs: this text, this place, these words. A mistake that passes would be
blamed on an adapter later.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest

from turnproof.errors import ScenarioError
from turnproof.scenarios import load

from .bad import Bad, check_refused, turn

TURNS = [
    turn("nothing", "{}", "", "needs 'user', or something to do: 'before', 'revert' or 'sessions'"),
    turn("not-a-mapping", "hello", "", "expected a turn, found the text hello"),
    turn("unknown-key", "user: a\nmodle: b", ".modle", "did you mean 'model'?"),
    turn("unanswered", "user: a", "", "needs 'model'"),
    turn("answer-to-nobody", "before: gc\nmodel: b", ".model", "nothing is said in this turn"),
    turn("cancel-of-nothing", "before: gc\ncancel: before-start", ".cancel", "nothing is said in this turn"),
    turn("unknown-action", "before: [save-laod]\nuser: a\nmodel: b", ".before[0]", "did you mean 'save-load'?"),
    turn("action-of-old", "before: clear\nuser: a\nmodel: b", ".before", "unknown word 'clear'; one of gc, save-load"),
    turn("revert-to-a-word", "revert: first\nuser: a\nmodel: b", ".revert", "expected a whole number"),
    turn("revert-below-the-first", "revert: -1\nuser: a\nmodel: b", ".revert", "must be 0 or more"),
    turn("answer-after-a-revert", "revert: 0\nmodel: b", ".model", "nothing is said in this turn"),
    turn(
        "cancel-by-nobody",
        "user: a\nmodel: b\ncancel: {at: batch, by: stopp}",
        ".cancel.by",
        "did you mean 'stop'?",
    ),
    turn(
        "stop-of-nothing",
        "user: a\nmodel: b\ncancel: {at: before-start, by: stop}",
        ".cancel.by",
        "there is no turn yet that could be stopped",
    ),
    turn("user-says-nothing", "user: []\nmodel: b", ".user", "the user says nothing"),
    turn("user-number", "user: 3\nmodel: b", ".user", "found the number 3"),
    turn("user-unknown-part", "user: [{imag: png}]\nmodel: b", ".user[0]", "did you mean 'image'?"),
    turn("user-two-things", "user: [{text: a, image: png}]\nmodel: b", ".user[0]", "write two parts"),
    turn("user-unknown-image", "user: [{image: pgn}]\nmodel: b", ".user[0].image", "did you mean 'png'?"),
    turn("user-file-without-type", "user: [{file: 'https://a/b'}]\nmodel: b", ".user[0]", "needs 'mime'"),
    turn("no-round", "user: a\nmodel: []", ".model", "needs at least one round; an empty answer is written [[]]"),
    turn("part-as-round", "user: a\nmodel: [{text: b}]", ".model[0]", "put this part into [ ]"),
    turn("number-as-part", "user: a\nmodel: [[41]]", ".model[0][0]", "found the number 41"),
    turn("unknown-part", "user: a\nmodel: [[{txt: b}]]", ".model[0][0]", "did you mean 'text'?"),
    turn("two-parts-in-one", "user: a\nmodel: [[{text: b, thinking: c}]]", ".model[0][0]", "'text' and 'thinking'"),
    turn("unknown-key-of-part", "user: a\nmodel: [[{text: b, peices: [c]}]]", ".model[0][0].peices", "unknown key"),
    turn("block-of-no-dialect", "user: a\nmodel: [[{block: tool}]]", ".model[0][0].block", "blocks by dialect"),
    turn(
        "block-without-form",
        "user: a\nmodel: [[{block: {gemini: tool}}]]",
        ".model[0][0].block.gemini",
        "that dialect's spelling",
    ),
    turn(
        "data-of-no-form", "user: a\nmodel: [[{text: b, data: c}]]", ".model[0][0].data", "the service's own spelling"
    ),
    turn("no-pieces", "user: a\nmodel: [[{text: []}]]", ".model[0][0].text", "at least one"),
    turn(
        "number-as-piece",
        "user: a\nmodel: [[{text: [b, 1]}]]",
        ".model[0][0].text[1]",
        "a piece of text, found the number 1; quote it",
    ),
    turn(
        "unknown-finish",
        "user: a\nmodel: [{parts: [b], finish: max_token}]",
        ".model[0].finish",
        "did you mean 'max_tokens'?",
    ),
    turn(
        "finish-cancelled",
        "user: a\nmodel: [{parts: [b], finish: cancelled}]",
        ".model[0].finish",
        "unknown word 'cancelled'",
    ),
    turn(
        "unknown-without-word",
        "user: a\nmodel: [{parts: [b], finish: unknown}]",
        ".model[0].finish",
        "needs 'raw_finish'",
    ),
    turn(
        "tool-use-without-call", "user: a\nmodel: [{parts: [b], finish: tool_use}]", ".model[0].finish", "needs a call"
    ),
    turn(
        "negative-usage",
        "user: a\nmodel: [{parts: [b], usage: {output: -1}}]",
        ".model[0].usage.output",
        "must be 0 or more",
    ),
    turn(
        "usage-in-a-provider's-words",
        "user: a\nmodel: [{parts: [b], usage: {output_tokens: 1}}]",
        ".model[0].usage.output_tokens",
        "unknown key 'output_tokens'; did you mean 'output'?",
    ),
    turn(
        "undeclared-tool",
        "user: a\nmodel: [[{call: raed}], [b]]",
        ".model[0][0].call",
        "no tool 'raed' is declared for this turn; did you mean 'read'?",
    ),
    turn("undeclared-tool-far-off", "user: a\nmodel: [[{call: fly}], [b]]", ".model[0][0].call", "add 'unknown: true'"),
    turn(
        "declared-as-unknown",
        "user: a\nmodel: [[{call: read, unknown: true}], [b]]",
        ".model[0][0].unknown",
        "is declared",
    ),
    turn(
        "arguments-as-list",
        "user: a\nmodel: [[{call: read, args: [1]}], [b]]",
        ".model[0][0].args",
        "expected arguments by name",
    ),
    turn(
        "pieces-not-json",
        "user: a\nmodel: [[{call: read, pieces: ['{\"bed\"']}], [b]]",
        ".model[0][0].pieces",
        "which is not JSON",
    ),
    turn(
        "pieces-no-number",
        "user: a\nmodel: [[{call: read, pieces: ['{\"bed\": NaN}']}], [b]]",
        ".model[0][0].pieces",
        "not a JSON number",
    ),
    turn(
        "pieces-half-surrogate",
        'user: a\nmodel: [[{call: read, pieces: [\'{"bed": "\\ud83d"}\']}], [b]]',
        ".model[0][0].pieces",
        "surrogates not allowed",
    ),
    turn(
        "pieces-no-object",
        "user: a\nmodel: [[{call: read, pieces: ['[1]']}], [b]]",
        ".model[0][0].pieces",
        "arguments are an object",
    ),
    turn(
        "pieces-say-otherwise",
        "user: a\nmodel: [[{call: read, args: {bed: '3'}, pieces: ['{\"bed\": 3}']}], [b]]",
        ".model[0][0].pieces",
        "but 'args' say",
    ),
    turn("broken-without-pieces", "user: a\nmodel: [[{call: read, broken: true}]]", ".model[0][0]", "needs 'pieces'"),
    turn(
        "broken-but-whole",
        "user: a\nmodel: [[{call: read, pieces: ['{}'], broken: true}]]",
        ".model[0][0].pieces",
        "whole arguments",
    ),
    turn(
        "malformed-without-pieces",
        "user: a\nmodel: [[{call: read, malformed: true}]]\nerror: TransportError",
        ".model[0][0]",
        "a malformed call needs 'pieces'",
    ),
    turn(
        "malformed-but-whole",
        "user: a\nmodel: [[{call: read, pieces: ['{}'], malformed: true}]]\nerror: TransportError",
        ".model[0][0].pieces",
        "the call is malformed",
    ),
    turn(
        "malformed-but-answered",
        "user: a\nmodel: [[{call: read, pieces: ['{'], malformed: true}], [b]]",
        "",
        "never become JSON, so the turn needs 'error'",
    ),
    turn(
        "broken-without-limit",
        "user: a\nmodel: [{parts: [{call: read, pieces: ['{'], broken: true}], finish: tool_use}]",
        ".model[0].finish",
        "max_tokens or context_limit",
    ),
    turn(
        "broken-in-the-middle",
        "user: a\nmodel: [[{call: read, pieces: ['{'], broken: true}, {call: water}]]",
        ".model[0]",
        "nothing can follow a broken call",
    ),
    turn(
        "one-id-twice", "user: a\nmodel: [[{call: read, id: x}, {call: water, id: x}], [b]]", ".model[0]", "the same id"
    ),
    turn("calls-without-next-round", "user: a\nmodel: [[{call: read}]]", ".model[0]", "no round follows"),
    turn("pause-without-next-round", "user: a\nmodel: [{parts: [b], finish: paused}]", ".model[0]", "no round follows"),
    turn("round-that-never-comes", "user: a\nmodel: [[b], [c]]", ".model[0]", "round 1 never comes"),
    turn(
        "clipped-call-then-round",
        "user: a\nmodel: [[{call: read, pieces: ['{'], broken: true}], [c]]",
        ".model[0]",
        "round 1 never comes",
    ),
    turn(
        "result-of-nobody",
        "user: a\nmodel: b\nresults: {read: 1}",
        ".results.read",
        "no call of this turn names 'read'",
    ),
    turn(
        "result-of-unknown",
        "user: a\nmodel: [[{call: fly, unknown: true}], [b]]\nresults: {fly: 1}",
        ".results.fly",
        "is an unknown tool",
    ),
    turn(
        "object-as-result",
        "user: a\nmodel: [[{call: read}], [b]]\nresults: {read: {moisture: 41}}",
        ".results.read.moisture",
        "unknown key",
    ),
    turn(
        "empty-result",
        "user: a\nmodel: [[{call: read}], [b]]\nresults: {read: {}}",
        ".results.read",
        "needs 'result', 'error' or 'attachments'",
    ),
    turn(
        "result-and-error",
        "user: a\nmodel: [[{call: read}], [b]]\nresults: {read: {result: 1, error: b}}",
        ".results.read.error",
        "give 'error' or 'result'",
    ),
    turn(
        "case-without-when",
        "user: a\nmodel: [[{call: read}], [b]]\nresults: {read: {result: 1, cases: [{result: 2}]}}",
        ".results.read.cases[0]",
        "needs 'when'",
    ),
    turn(
        "tool-not-declared-before",
        "tools: [raed]\nuser: a\nmodel: b",
        ".tools[0]",
        "no tool 'raed' was declared before; did you mean 'read'?",
    ),
    turn("tool-twice", "tools: [read, read]\nuser: a\nmodel: b", ".tools[1]", "stands here twice"),
    turn(
        "vanished-tool-called",
        "tools: [water]\nuser: a\nmodel: [[{call: read}], [b]]",
        ".model[0][0].call",
        "no tool 'read' is declared for this turn",
    ),
]

HAPPENINGS = [
    turn(
        "child-that-fails-for-a-moment",
        "user: a\nmodel: b\nchild: {user: c, model: d, status: 503}",
        ".child.status",
        "499",
    ),
    turn(
        "background-uncalled",
        "user: a\nmodel: b\nbackground: read",
        ".background",
        "has to be called once in this turn, got 0 calls",
    ),
    turn(
        "again-without-a-fault",
        "user: a\nmodel: [{parts: [b], again: [c]}]",
        ".model[0].again",
        "a fault of that round has to pass",
    ),
    turn(
        "again-that-calls",
        "user: a\nmodel: [{parts: [b], again: [[{call: read}]]}]\nfaults: {kind: reset}",
        ".model[0].again",
        "none where it calls none",
    ),
    turn(
        "again-of-nothing",
        "user: a\nmodel: [{parts: [b], again: []}]\nfaults: {kind: reset}",
        ".model[0].again",
        "needs at least one answer",
    ),
    turn(
        "again-with-keys",
        "user: a\nmodel: [{parts: [b], again: [{parts: [c]}]}]\nfaults: {kind: reset}",
        ".model[0].again[0]",
        "is a text or a list of parts",
    ),
    turn(
        "nothing-to-take-back",
        "user: a\nmodel: b\ntake_back: true",
        ".take_back",
        "needs a round with 'again'",
    ),
    turn(
        "background-cut",
        "user: a\nmodel: [[{call: read}], [b]]\nresults: {read: 1}\nbackground: read\n"
        "cancel: {round: 1, after: 'text:1'}",
        ".background",
        "stands alone",
    ),
    turn(
        "child-of-a-tool-that-nobody-calls",
        "user: a\nmodel: b\nchild: {user: c, model: d, tool: read}",
        ".child.tool",
        "has to be called once in this turn, got 0 calls",
    ),
    turn(
        "child-of-a-tool-with-a-result",
        "user: a\nmodel: [[{call: read}], [b]]\nchild: {user: c, model: d, tool: read}\nresults: {read: 1}",
        ".results.read",
        "returns what the child answers",
    ),
    turn(
        "child-of-a-tool-that-outlives",
        "user: a\nmodel: [[{call: read}], [b]]\nchild: {user: c, model: d, tool: read, outlives: true}",
        ".child.outlives",
        "give 'tool' or 'outlives'",
    ),
    turn(
        "child-that-outlives-and-fails",
        "user: a\nmodel: b\nchild: {user: c, model: d, outlives: true, status: 400}",
        ".child.status",
        "take out 'tool' or 'outlives'",
    ),
    turn(
        "child-that-outlives-and-calls",
        "user: a\nmodel: b\nchild: {user: c, model: [[{call: read}], [d]], outlives: true}",
        ".child.model",
        "is answered without",
    ),
    turn(
        "one-child-at-once",
        "user: a\nmodel: b\nchildren: [{user: c, model: d}]",
        ".children",
        "for a single one there is 'child'",
    ),
    turn(
        "children-told-the-same",
        "user: a\nmodel: b\nchildren: [{user: c, model: d}, {user: cc, model: e}]",
        ".children[1].user",
        "is told what another child is told",
    ),
    turn(
        "children-beside-a-child",
        "user: a\nmodel: b\nchild: {user: e, model: f}\nchildren: [{user: c, model: d}, {user: g, model: e}]",
        ".children",
        "stands alone",
    ),
    turn(
        "cancel-in-no-child",
        "user: a\nmodel: b\ncancel: {at: child, after: 'text:1'}",
        ".cancel",
        "no tool of the turn has a child told",
    ),
    turn(
        "cancel-on-a-piece-elsewhere",
        "user: a\nmodel: b\ncancel: {at: batch, on-piece: 1}",
        ".cancel.on-piece",
        "needs an event, at which the stream is held",
    ),
    turn("cancel-word", "user: a\nmodel: b\ncancel: before-strat", ".cancel", "did you mean 'before-start'?"),
    turn("cancel-event-where", "user: a\nmodel: b\ncancel: event", ".cancel", "needs the event"),
    turn("cancel-nowhere", "user: a\nmodel: b\ncancel: {round: 0}", ".cancel", "needs the event"),
    turn("cancel-key", "user: a\nmodel: b\ncancel: {afer: 'text:1'}", ".cancel.afer", "did you mean 'after'?"),
    turn(
        "cancel-after-tool",
        "user: a\nmodel: b\ncancel: {at: tool, after: 'text:1'}",
        ".cancel.after",
        "cancelled at 'tool'",
    ),
    turn(
        "cancel-unknown-event", "user: a\nmodel: b\ncancel: {after: 'texts:1'}", ".cancel.after", "did you mean 'text'?"
    ),
    turn(
        "cancel-uncounted-event",
        "user: a\nmodel: b\ncancel: {after: text}",
        ".cancel.after",
        "expected an event such as text:2",
    ),
    turn("cancel-event-zero", "user: a\nmodel: b\ncancel: {after: 'text:0'}", ".cancel.after", "counted from 1"),
    turn(
        "cancel-event-never",
        "user: a\nmodel: [[{text: [b, c]}]]\ncancel: {after: 'text:3'}",
        ".cancel.after",
        "waits for text:3, but the answer has 2 such events",
    ),
    turn("cancel-kind-never", "user: a\nmodel: b\ncancel: {after: 'args:1'}", ".cancel.after", "has no such event"),
    turn(
        "cancel-call-never",
        "user: a\nmodel: [[b, {call: read, args: {bed: '3'}}]]\ncancel: {after: 'call:2'}",
        ".cancel.after",
        "has 1 such event",
    ),
    turn(
        "cancel-broken-call",
        "user: a\nmodel: [[{call: read, pieces: ['{'], broken: true}]]\ncancel: {after: 'call:1'}",
        ".cancel.after",
        "no such event",
    ),
    turn(
        "cancel-round",
        "user: a\nmodel: b\ncancel: {round: 1, after: 'text:1'}",
        ".cancel",
        "is in round 1, but the turn has 1",
    ),
    turn(
        "cancel-tool-number",
        "user: a\nmodel: [[{call: read}]]\ncancel: {at: tool, index: 1}",
        ".cancel",
        "is at tool 1, but round 0 calls 1",
    ),
    turn(
        "cancel-then-round",
        "user: a\nmodel: [[{call: read}], [b]]\ncancel: {at: tool}",
        ".model",
        "so round 1 never comes",
    ),
    turn("backoff-of-nothing", "user: a\nmodel: b\ncancel: backoff", ".cancel", "only 0 attempts of round 0 fail"),
    turn(
        "backoff-of-refusal",
        "user: a\nmodel: b\nfaults: {kind: status, status: 400}\ncancel: backoff",
        ".cancel",
        "only 0 attempts",
    ),
    turn("expected-cancel", "user: a\nmodel: b\nexpect: cancelled", "", "belong together"),
    turn("cancel-but-answer", "user: a\nmodel: b\ncancel: before-start\nexpect: answer", "", "belong together"),
    turn("error-without-kind", "user: a\nmodel: b\nexpect: error", "", "where no fault makes the turn fail"),
    turn("unknown-error", "user: a\nmodel: b\nerror: RateLimitEror", ".error", "did you mean 'RateLimitError'?"),
    turn("fault-without-kind", "user: a\nmodel: b\nfaults: {status: 500}", ".faults", "needs 'kind'"),
    turn("fault-kind", "user: a\nmodel: b\nfaults: {kind: rest}", ".faults.kind", "did you mean 'reset'?"),
    turn(
        "fault-in-list",
        "user: a\nmodel: b\nfaults: [{kind: drip}, {kind: rest}]",
        ".faults[1].kind",
        "did you mean 'reset'?",
    ),
    turn("status-without-status", "user: a\nmodel: b\nfaults: {kind: status}", ".faults", "needs 'status'"),
    turn(
        "status-of-success",
        "user: a\nmodel: b\nfaults: {kind: status, status: 200}",
        ".faults.status",
        "out of range: 400 to 599",
    ),
    turn(
        "foreign-key-of-fault",
        "user: a\nmodel: b\nfaults: {kind: reset, status: 500}",
        ".faults.status",
        "unknown key 'status'",
    ),
    turn(
        "fault-underscore",
        "user: a\nmodel: b\nfaults: {kind: status, status: 429, retry_after: 3}",
        ".faults.retry_after",
        "did you mean 'retry-after'?",
    ),
    turn(
        "form-of-no-wait",
        "user: a\nmodel: b\nfaults: {kind: status, status: 429, retry-after-as: date}",
        ".faults.retry-after-as",
        "give that too",
    ),
    turn(
        "fault-two-places",
        "user: a\nmodel: b\nfaults: {kind: reset, index: 1, after: 'text:1'}",
        ".faults.after",
        "not both",
    ),
    turn(
        "fault-round",
        "user: a\nmodel: b\nfaults: {kind: drip, round: 1}",
        ".faults",
        "is in round 1, but the turn has 1",
    ),
    turn(
        "fault-event-never",
        "user: a\nmodel: [[{text: [b]}]]\nfaults: {kind: reset, after: 'text:2'}",
        ".faults.after",
        "has 1 such event",
    ),
    turn(
        "fault-never-times", "user: a\nmodel: b\nfaults: {kind: drip, times: 0}", ".faults.times", "must be 1 or more"
    ),
    turn(
        "too-many-failures",
        "user: a\nmodel: b\nfaults: {kind: status, status: 503, times: 3}",
        "",
        "round 0 never succeeds (3 attempts are made)",
    ),
    turn(
        "failures-that-add-up",
        "user: a\nmodel: b\nfaults: [{kind: reset, index: -1}, {kind: status, status: 500, times: 2}]",
        "",
        "never succeeds",
    ),
    turn(
        "refusal-then-answer", "user: a\nmodel: b\nfaults: {kind: status, status: 404}", "", "so the turn needs 'error'"
    ),
    turn(
        "error-that-passes",
        "user: a\nmodel: b\nfaults: {kind: reset, index: -1}\nerror: TransportError",
        "",
        "ends with an answer",
    ),
]


@pytest.mark.parametrize("bad", TURNS + HAPPENINGS, ids=attrgetter("id"))
def test_a_mistake_is_refused_with_its_place_and_reason(bad: Bad, tmp_path: Path) -> None:
    check_refused(bad, tmp_path)


def test_a_call_that_runs_needs_a_result(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("title: T\ntools: [{name: read}]\nturns: [{user: a, model: [[{call: read}], [b]]}]\n")
    with pytest.raises(
        ScenarioError, match=r"\$\.turns\[0\]\.model: .*neither this turn nor the scenario has results for it"
    ):
        load(file)


def test_the_reason_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("title: T\nturns:\n  - user: a\n    model:\n      - - text: [b]\n        - {thikning: c}\n")
    with pytest.raises(ScenarioError, match=r"\$\.turns\[0\]\.model\[0\]\[1\]: line 6: "):
        load(file)
