"""Probes: the run's calls once more, straight at the adapter, past the session.

Most are about purity: on a fresh object, in another order, from several threads and loops. `complete()` must send the
same bytes each time; the server gives an identical request the identical reply, so only the requests are of interest.
`cancelled` calls with a token that is set already, on both paths: a session may look at it first, and then nobody
knows what the adapter would have done. `broken` and `helpers` do what no session does (`direct_calls`); `other-model`
and `other-key` change the model or the key of an object that owns the history, and `deletion` has one delete its
conversation at the service; `background` and `broken-stream` are in `background_probe`; `shutdown` makes no call, and
looks at what is open when the adapter has shut down.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec

from ..._base.coroutines import in_fresh_loops
from ...cancel import CancelToken
from ...chains import ChainPolicy
from ...dialects import dialect
from ...messages import Message, ProviderResponse
from ...provider import Path
from ...session.ports import takes
from ...wire.emulator.server_run import other_key
from ..transcript import CallBegan, Chunk, Response
from .background_probe import receive_broken_stream, take_up_and_cancel
from .direct_calls import broken_histories, call_helpers
from .job import Job
from .recorder import Recorder
from .tap import failed

_ON_BOTH_PATHS = ("cancelled", "helpers", "background", "broken-stream")

_ON_THE_LEGACY_PATH_ALONE = ("other-model", "other-key", "deletion")

_IN_ONE_MODE = ("broken", "helpers")
"""Whether the answer would stream makes no difference to these: they are done once, in one piece where that is."""

LOOPS = 2
"""Calls that are made again in an event loop of their own: what belongs to the first shows in the second."""


def run_probes(
    job: Job, recorder: Recorder, calls: Sequence[CallBegan], open_provider: Callable[[Path], Any], dialect_name: str
) -> None:
    """Make the calls of the conversation again, as the scenario's `probes` ask. `open_provider` opens a fresh object of
    an adapter to this dialect.

    Of the legacy path there is no purity to probe: its providers hold the history.
    """
    path = job.key.path
    own_calls = [call for call in calls if call.path == path]
    named = [probe for probe in job.scenario.probes if probe != "shutdown"]
    there = [probe for probe in named if probe in (*_ON_BOTH_PATHS, *_ON_THE_LEGACY_PATH_ALONE)]
    probes = there if path == "legacy" else [probe for probe in named if probe not in _ON_THE_LEGACY_PATH_ALONE]
    if job.key.mode == "stream" and "batch" in job.scenario.modes:
        probes = [probe for probe in probes if probe not in _IN_ONE_MODE]
    if not probes or not own_calls:
        return
    for probe in probes:
        recorder.probe = probe
        recorder.control.ask("probe", probe)
        match probe:
            case "fresh":
                for call in own_calls:
                    _resend(open_provider(path), [call], recorder)
            case "reversed":
                _resend(open_provider(path), own_calls[::-1], recorder)
            case "threads":
                _from_threads(open_provider(path), own_calls, recorder)
            case "loops":
                _from_loops(open_provider(path), own_calls, recorder)
            case "cancelled":
                for call in own_calls:
                    _call_cancelled(open_provider(path), call, recorder)
            case "broken":
                _resend(open_provider(path), broken_histories(own_calls), recorder)
            case "other-model":
                provider = open_provider(path)
                switch = _to_another_model(provider, other_model(dialect_name, job.model), recorder)
                _ask_twice(provider, own_calls, recorder, switch)
            case "other-key":
                provider = open_provider(path)
                _ask_twice(provider, own_calls, recorder, _to_another_key(provider, job, recorder))
            case "deletion":
                _delete_one_of_two(open_provider(path), open_provider(path), own_calls, recorder)
            case "background":
                take_up_and_cancel(
                    partial(open_provider, path),
                    own_calls[0],
                    partial(_begins, recorder=recorder),
                    lambda call, make: _record(call, recorder, make),
                )
            case "broken-stream":
                receive_broken_stream(
                    partial(open_provider, path),
                    own_calls[0],
                    partial(_begins, recorder=recorder),
                    lambda call, make: _record(call, recorder, make),
                    lambda text: recorder.event(Chunk(text=text, **recorder.place)),
                )
            case "helpers":
                call_helpers(open_provider(path), own_calls, recorder)
    recorder.probe = ""
    recorder.control.ask("probe", "")


def _from_loops(provider: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """Each call from inside an event loop of its own, one after the other: as programs do that call `asyncio.run()`."""

    async def inside(call: CallBegan) -> None:
        _resend(provider, [call], recorder)

    with in_fresh_loops():
        for call in calls[:LOOPS]:
            asyncio.run(inside(call))


def _resend(provider: Any, calls: Iterable[CallBegan], recorder: Recorder) -> None:
    for call in calls:
        _record(call, recorder, partial(_complete, provider, call))


def _call_cancelled(provider: Any, call: CallBegan, recorder: Recorder) -> None:
    """A call whose token is set before it begins. A legacy method that is missing or takes no token is not called."""
    token = CancelToken()
    token.cancel()
    if call.path == "stateless":
        _record(call, recorder, lambda: _complete(provider, call, cancel_token=token))
        return
    if not _begins(provider, call, recorder):
        return
    last = call.messages[-1]
    content: Any = list(last.results) if last.role == "tool" else last.text
    name = "send_tool_results" if last.role == "tool" else "send_message"
    send = getattr(provider, f"{name}_streaming" if call.streamed else name, None)
    if send is not None and takes(send, "cancel_token"):
        chunks: list[str] = []
        listening = [chunks.append] if call.streamed else []
        _record(call, recorder, lambda: send(content, *listening, cancel_token=token))


def _begins(provider: Any, call: CallBegan, recorder: Recorder) -> bool:
    """Whether an object of the legacy path holds the conversation ahead of a call."""
    with _outside_calls(recorder):
        provider.create_session(call.system, list(call.tools) or None, list(call.messages[:-1]))
        return True
    return False


@contextmanager
def _outside_calls(recorder: Recorder) -> Iterator[None]:
    """What is done here to an object, and what that sends (a managed cache), is no part of a call. What it raises is
    recorded, and ends the block alone."""
    recorder.call = -1
    recorder.control.ask("call-begins", (-1, recorder.probe))
    try:
        yield
    except Exception as error:
        recorder.event(failed("call", error, recorder.raised(error), **recorder.place))
    finally:
        recorder.end()


def other_model(dialect_name: str, model: str) -> str | None:
    """Another model of the service that has what this one has; None where the table has no such model."""
    models = dialect(dialect_name).models
    facts = models.get(model)
    same = {model, facts.alias_of if facts is not None else None}
    alike = (one for one in models.values() if facts is not None and one.features == facts.features)
    return next((one.id for one in alike if not same & {one.id, one.alias_of}), None)


def _to_another_model(provider: Any, other: str | None, recorder: Recorder) -> Callable[[], bool] | None:
    """Gives the object another model; None for one that keeps its model, as it has no `connect()`."""
    connect = getattr(provider.wrapped, "connect", None)
    if connect is None or other is None:
        return None

    def switch() -> bool:
        with _outside_calls(recorder):
            connect(other)
            return True
        return False

    return switch


def _to_another_key(provider: Any, job: Job, recorder: Recorder) -> Callable[[], bool] | None:
    """Gives the object another key and its own settings, and returns whether it still has its history.

    None for one that cannot be given any, as it lacks `initialize()`, `connect()` or `get_history()`.
    """
    own = provider.wrapped
    initialize, connect, history = (getattr(own, name, None) for name in ("initialize", "connect", "get_history"))
    if initialize is None or connect is None or history is None:
        return None

    def switch() -> bool:
        with _outside_calls(recorder):  # it may take other settings: nobody knows then what it would have done
            initialize({**job.options, "base_url": job.base_url, "api_key": other_key(job.api_key)})
            connect(job.model)
            return len(history()) > 0
        return False

    return switch


def _ask_twice(
    provider: Any, calls: Sequence[CallBegan], recorder: Recorder, switch: Callable[[], bool] | None
) -> None:
    """The first thing that the user said, asked twice of one object, which is switched in between."""
    first = next((call for call in calls if call.messages[-1].role == "user"), None)
    if switch is None or first is None or not _begins(provider, first, recorder):
        return
    question = first.messages[-1]
    answer = _record(first, recorder, lambda: provider.send_message(question.text))
    if answer is None or not switch():
        return
    messages = (*first.messages, Message("model", answer.parts), question)
    again = msgspec.structs.replace(first, call=first.call + 1, messages=messages)
    _record(again, recorder, lambda: provider.send_message(question.text))


def _delete_one_of_two(provider: Any, fork: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """One object says something, and a fork of it something else. The first one then begins another conversation and
    deletes the one that it left; after that, both are asked again.

    Objects that are no `turnproof.chains.ChainedProvider` are not asked. All texts differ: an answer to an identical
    request has the id of the first one.
    """
    delete = getattr(provider.wrapped, "delete_left_answers", None)
    if delete is None:
        return
    for one in (provider, fork):
        one.wrapped.set_chain_policy(ChainPolicy(delete=True))
    question = "What do you know now?"
    earlier = _say(provider, calls[0], 0, (), "Please forget this later.", recorder)
    in_fork = earlier and _say(fork, calls[0], 1, earlier, "Please remember this.", recorder)
    if not earlier or not in_fork or not _begins(provider, _asking(calls[0], (), question), recorder):
        return
    with _outside_calls(recorder):
        delete()
    _ask(provider, calls[0], 2, (), question, recorder)
    _ask(fork, calls[0], 3, in_fork, question, recorder)


def _say(
    provider: Any, like: CallBegan, number: int, earlier: tuple[Message, ...], text: str, recorder: Recorder
) -> tuple[Message, ...]:
    """What was said when a fresh object has gone on with this text from earlier messages; nothing if that failed."""
    if not _begins(provider, _asking(like, earlier, text), recorder):
        return ()
    return _ask(provider, like, number, earlier, text, recorder)


def _ask(
    provider: Any, like: CallBegan, number: int, earlier: tuple[Message, ...], text: str, recorder: Recorder
) -> tuple[Message, ...]:
    call = msgspec.structs.replace(_asking(like, earlier, text), call=like.call + number)
    answer = _record(call, recorder, lambda: provider.send_message(text))
    return () if answer is None else (*call.messages, Message("model", answer.parts))


def _asking(like: CallBegan, earlier: tuple[Message, ...], text: str) -> CallBegan:
    return msgspec.structs.replace(like, messages=(*earlier, Message.user(text)))


def _record(call: CallBegan, recorder: Recorder, action: Callable[[], ProviderResponse]) -> ProviderResponse | None:
    """Make a call of a probe and put it down; None if it raised."""
    recorder.call = call.call
    recorder.begin(msgspec.structs.replace(call, probe=recorder.probe, turn=-1))
    where = recorder.place
    try:
        response = action()
    except Exception as error:
        recorder.end()
        recorder.event(failed("call", error, recorder.raised(error), **where))
        return None
    recorder.end()
    recorder.event(Response(response=msgspec.structs.replace(response, raw=None), **where))
    return response


def _complete(provider: Any, call: CallBegan, **options: Any) -> Any:
    chunks: list[str] = []
    return provider.complete(
        list(call.messages),
        call.system,
        list(call.tools) or None,
        response_schema=call.response_schema,
        on_chunk=chunks.append if call.streamed else None,
        **options,
    )


def _from_threads(provider: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """All calls at once through one object. Which exchange is whose is told by its bytes alone."""
    results: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run_probe(position: int) -> None:
        barrier.wait()
        try:
            results[position] = _complete(provider, calls[position])
        except Exception as error:
            results[position] = error

    threads = [threading.Thread(target=run_probe, args=(n,), daemon=True) for n in range(len(calls))]
    recorder.call = -1
    recorder.control.ask("call-begins", (-1, recorder.probe))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    recorder.end()
    for call, result in zip(calls, results, strict=True):
        where: dict[str, Any] = {"turn": -1, "call": call.call, "probe": recorder.probe}
        if isinstance(result, BaseException):
            recorder.event(failed("call", result, recorder.raised(result), **where))
        elif result is not None:
            recorder.event(Response(response=msgspec.structs.replace(result, raw=None), **where))
