"""The key of a run: the same for all emulated ones, and one that nobody can guess behind a real service."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof._base.secrets import is_secret_name
from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.job import Job
from turnproof.run.driver.merge_transcript import Gathering
from turnproof.run.driver.runner import Emulated
from turnproof.run.driver.worker_pool import service_keys, subject_environment
from turnproof.run.transcript import RunEnded, RunKey
from turnproof.wire.cassettes.recording_proxy import ProxyTarget
from turnproof.wire.emulator.server_run import CANARY_KEY, ServerRun, other_key

from .talks import scenario


class Slot:
    """A place that makes no run, and keeps what it was told to."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, gathering: Gathering) -> RunEnded:
        self.jobs.append(job)
        return RunEnded(how="completed")


class Answering(Emulated):
    """Answers as this backend, and keeps the runs of the server."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.server_runs: list[ServerRun] = []

    def backend_for(self, spec: RunSpec) -> Any:
        return self.backend

    def finished(self, binding: Any, spec: RunSpec, server_run: ServerRun) -> None:
        self.server_runs.append(server_run)


@pytest.mark.parametrize("backend", ["emulate", "live"])
def test_only_behind_a_real_service_each_run_has_a_key_of_its_own(backend: str) -> None:
    script, slot, answering = scenario("answer"), Slot(), Answering(backend)
    place: Any = slot
    with Runner(jobs=1, in_process=True, responders=answering) as runner:
        for _ in range(2):
            runner._run_one(place, RunSpec("anthropic", script, RunKey(script.name, "stateless", "batch")))
    keys = [job.api_key for job in slot.jobs]
    assert len({*keys}) == (2 if backend == "live" else 1)
    assert all(CANARY_KEY in key for key in keys)  # whoever looks for that one finds each of them
    for key, server_run in zip(keys, answering.server_runs, strict=True):
        assert key in server_run.secrets
        assert server_run.world.keys == {key, other_key(key)}


def test_the_key_in_the_sources_does_not_open_a_live_run() -> None:
    script, slot, answering = scenario("answer"), Slot(), Answering("live")
    place: Any = slot
    with Runner(jobs=1, in_process=True, responders=answering) as runner:
        runner._run_one(place, RunSpec("anthropic", script, RunKey(script.name, "stateless", "batch")))
    target = ProxyTarget("https://api.example", "sk-real", dialect("anthropic-messages"))
    (known,) = (server_run.world.keys for server_run in answering.server_runs)
    for key, opened in ((CANARY_KEY, False), (other_key(CANARY_KEY), False), (slot.jobs[0].api_key, True)):
        assert target.is_opened_by(HttpRequest("POST", "/v1/messages", {}, {"x-api-key": key}, b""), known) is opened


def test_the_name_of_each_variable_with_a_services_key_says_so() -> None:
    assert [name for name in service_keys() if not is_secret_name(name)] == []


def test_a_subject_sees_no_key_of_a_service_and_what_else_is_there() -> None:
    there = {
        "OPENAI_API_KEY": "sk-1",
        "GITHUB_TOKEN": "ghp-1",
        "DATABASE_TOKEN": "its own",
        "LANG": "C",
        "PYTEST_VERSION": "9",
    }
    assert subject_environment(there) == {"DATABASE_TOKEN": "its own", "LANG": "C"}
