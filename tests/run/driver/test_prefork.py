"""Workers that are forked from one process, which imports what they need while the command is still being imported.

There is one such process in a process: each test has a script of its own, whose last line is what it found.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are spawned")

HERE = Path(__file__).parent

HANGING_SDK = """
import os, signal, time
if "TURNPROOF_HERE" not in os.environ:
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, min(left, 0.1))  # the limit that was set, brought forward
    time.sleep(200)
"""

EARLY_SDK = "import os\nPROCESS = os.getpid()\n"

WAITING_SDK = """
import time
from pathlib import Path
Path(__file__).with_name("begun").touch()
while not Path(__file__).with_name("go").exists():
    time.sleep(0.01)
"""

START = f"""
import json, os, signal, sys, threading, time
sys.path[:0] = [{str(HERE)!r}, os.getcwd()]
from turnproof.run.driver import prefork

def said(transcript):
    assert transcript.end.how == "completed", transcript.end
    return json.loads([line for line in transcript.end.stdout.splitlines() if "parent" in line][-1])

def talk(runner, toy="telling:TELLS"):
    from talks import scenario
    from turnproof.run.driver import RunSpec
    from turnproof.run.transcript import RunKey
    made = scenario("first answer", "second answer")
    return runner.run(RunSpec(toy, made, RunKey(made.name, "stateless", "stream")))

def found(**what):
    print(json.dumps(what))
"""


def write(folder: Path, **modules: str) -> None:
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)


def popen(folder: Path, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START + script],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def outcome(folder: Path, script: str) -> dict[str, Any]:
    """What the script found; it says nothing else, and neither does any process that it started."""
    process = popen(folder, script)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, ""), err
    [line] = out.splitlines()
    result: dict[str, Any] = json.loads(line)
    return result


def test_forked_workers_give_the_evidence_of_spawned_ones(tmp_path: Path) -> None:
    write(tmp_path, early_sdk=EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
from turnproof.run.evidence import digest
with Runner() as runner:
    forked, plain = said(talk(runner)), digest(talk(runner, "toys:PLAIN"))
prefork.give_up()
with Runner() as runner:
    spawned, again = said(talk(runner)), digest(talk(runner, "toys:PLAIN"))
found(forked=forked, spawned=spawned, here=os.getpid(), plain=plain, again=again)
""",
    )
    assert result["plain"] == result["again"]
    assert result["forked"]["parent"] == result["forked"]["imported in"], "the SDK was imported once, before the fork"
    assert result["forked"]["parent"] != result["here"]
    assert result["spawned"]["parent"] == result["here"]


@pytest.mark.parametrize(
    "module",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
        "import os\nif 'TURNPROOF_HERE' not in os.environ: os._exit(3)",
        "import os\nif 'TURNPROOF_HERE' not in os.environ: raise SystemExit('no')",
        HANGING_SDK,
    ],
    ids=["starts a thread", "ends its process", "raises SystemExit", "takes for ever"],
)
def test_workers_are_spawned_where_no_process_can_be_forked_after_an_import(tmp_path: Path, module: str) -> None:
    write(tmp_path, early_sdk=module)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
os.environ["TURNPROOF_HERE"] = "1"
from turnproof.run.driver import Runner
with Runner() as runner:
    runner.warm(["early_sdk"])
    told = [said(talk(runner)), said(talk(runner))]
found(parents=[one["parent"] for one in told], here=os.getpid(), forks=prefork.context() is not None)
""",
    )
    assert result["parents"] == [result["here"]] * 2
    assert not result["forks"]


def test_workers_are_forked_where_an_import_would_start_a_pool_of_threads(tmp_path: Path) -> None:
    pool = """
import os, threading, time
if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
"""
    write(tmp_path, early_sdk=pool + EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
with Runner() as runner:
    found(**said(talk(runner)))
""",
    )
    assert result["parent"] == result["imported in"]


def test_a_module_that_cannot_be_imported_harms_nobody(tmp_path: Path) -> None:
    write(tmp_path, lacking="import no_such_module", failing="raise RuntimeError('no')", early_sdk=EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["lacking", "failing", "not_there", "not a name", "early_sdk"])
from turnproof.run.driver import Runner
with Runner() as runner:
    runner.warm(["failing"])
    found(**said(talk(runner)))
""",
    )
    assert result["parent"] == result["imported in"]


def test_a_worker_has_the_environment_and_the_folder_of_the_moment_it_is_started_in(tmp_path: Path) -> None:
    result = outcome(
        tmp_path,
        """
os.environ["TOLD_EARLY"] = "x"
prefork.prepare([])
from turnproof.run.driver import Runner
del os.environ["TOLD_EARLY"]
os.environ["TOLD_LATE"] = "y"
os.mkdir("below"); os.chdir("below")
with Runner() as runner:
    found(here=os.getpid(), **said(talk(runner)))
""",
    )
    assert result["environment"] == {"TOLD_LATE": "y"}
    assert result["folder"] == str(tmp_path / "below")
    assert result["parent"] != result["here"]


def test_what_a_runner_warms_for_itself_alone_reaches_no_other_worker(tmp_path: Path) -> None:
    """The doctor's guard watches all that a process does: it has to come first, and cannot be taken back."""
    write(tmp_path, early_sdk=EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
with Runner() as runner, Runner() as doctors:
    doctors.warm(["turnproof.commands.doctor.audit_hook"])
    found(guarded=said(talk(doctors)), other=said(talk(runner)), here=os.getpid())
""",
    )
    assert result["guarded"]["guarded"]
    assert result["guarded"]["parent"] == result["here"], "it is spawned: nothing is imported before the guard"
    assert not result["other"]["guarded"]
    assert result["other"]["parent"] != result["here"]


@pytest.mark.long
def test_a_hung_worker_and_a_dead_one_are_replaced_by_forked_ones(tmp_path: Path) -> None:
    write(tmp_path, early_sdk=EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
ends = []
with Runner(jobs=1, time_limit=60) as runner:
    for toy in ("PLAIN", "HANGS", "PLAIN", "DIES"):
        for line in runner._lines:
            line._time_limit = 1 if toy == "HANGS" else 60
        ends.append(talk(runner, f"toys:{toy}").end.how)
    found(ends=ends, **said(talk(runner)))
""",
    )
    assert result["ends"] == ["completed", "hung", "completed", "died"]
    assert result["parent"] == result["imported in"]


def test_workers_are_spawned_once_the_process_they_are_forked_from_has_died(tmp_path: Path) -> None:
    result = outcome(
        tmp_path,
        """
prefork.prepare([])
from turnproof.run.driver import Runner
with Runner() as runner:
    forked = said(talk(runner))
    os.kill(forked["parent"], signal.SIGKILL)
    os.waitid(os.P_PID, forked["parent"], os.WEXITED | os.WNOWAIT)
with Runner() as runner:
    found(here=os.getpid(), **said(talk(runner)))
""",
    )
    assert result["parent"] == result["here"]


def test_a_runner_that_is_closed_while_a_worker_is_started_leaves_none_behind(tmp_path: Path) -> None:
    """So it is where somebody presses Ctrl-C while an SDK is imported."""
    write(tmp_path, early_sdk=WAITING_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
import multiprocessing
from turnproof.run.driver import Runner
ended = []
starting, context = threading.Event(), prefork.context
def told(preload=()):
    starting.set()
    return context(preload)
prefork.context = told
def run():
    try:
        ended.append(talk(runner).end.how)
    except ConnectionAbortedError:
        ended.append("aborted")
with Runner() as runner:
    thread = threading.Thread(target=run)
    thread.start()
    assert starting.wait(60)
open("go", "w").close()
thread.join()
found(ended=ended, left=len(multiprocessing.active_children()))
""",
    )
    assert result == {"ended": ["aborted"], "left": 0}


@pytest.mark.parametrize("imports", ["goes on", "is over"])
def test_nothing_is_left_of_a_command_that_was_killed(tmp_path: Path, imports: str) -> None:
    write(tmp_path, early_sdk=WAITING_SDK)
    if imports == "is over":
        (tmp_path / "go").touch()
    process = popen(
        tmp_path,
        f"""
prefork.prepare(["early_sdk"])
if {imports == "is over"}:
    from turnproof.run.driver import Runner
    runner = Runner().__enter__()
    said(talk(runner))
while not os.path.exists("begun"):
    time.sleep(0.01)
print("ready", flush=True)
time.sleep(100)
""",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()
    assert len(session(process.pid)) >= (3 if imports == "is over" else 2)
    process.kill()
    process.communicate()
    (tmp_path / "go").touch()
    deadline = time.monotonic() + 60
    while session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert session(process.pid) == []


def session(leader: int) -> list[int]:
    """The processes of that session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_session) == leader and state != "Z":
            found.append(int(folder.name))
    return found


def test_who_reads_the_output_of_a_command_does_not_wait_for_imports_that_outlast_it(tmp_path: Path) -> None:
    write(tmp_path, early_sdk=WAITING_SDK)
    script = """
prefork.prepare(["early_sdk"])
while not os.path.exists("begun"):
    time.sleep(0.01)
found(done=True)
"""
    assert outcome(tmp_path, script) == {"done": True}
    (tmp_path / "go").touch()


def test_an_import_reads_and_writes_nothing_of_the_commands(tmp_path: Path) -> None:
    write(tmp_path, early_sdk="import os, sys\nprint('hello')\nos.write(2, b'warning')\nPROCESS = sys.stdin.read()")
    process = popen(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
with Runner() as runner:
    transcript = talk(runner)
found(read=sys.stdin.readline(), hello="hello" in transcript.end.stdout, **said(transcript))
""",
    )
    out, err = process.communicate("for the command\n", timeout=100)
    assert err == ""
    result = json.loads(out)
    assert result["read"] == "for the command\n"
    assert not result["hello"]
    assert result["imported in"] == ""


def test_ctrl_c_while_an_sdk_is_imported_is_the_commands_alone_to_act_on(tmp_path: Path) -> None:
    write(tmp_path, early_sdk=WAITING_SDK)
    process = popen(
        tmp_path,
        """
prefork.prepare(["early_sdk"])
while not os.path.exists("begun"):
    time.sleep(0.01)
try:
    print("ready", flush=True)
    time.sleep(100)
except KeyboardInterrupt:
    open("go", "w").close()
from turnproof.run.driver import Runner
with Runner() as runner:
    found(here=os.getpid(), **said(talk(runner)))
""",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert err == ""
    assert json.loads(out)["parent"] != json.loads(out)["here"]


def test_a_second_call_does_nothing(tmp_path: Path) -> None:
    write(tmp_path, early_sdk=EARLY_SDK)
    result = outcome(
        tmp_path,
        """
prefork.prepare([])
prefork.prepare(["early_sdk"])
from turnproof.run.driver import Runner
with Runner() as runner:
    found(early=prefork.context(["early_sdk"]) is not None, **said(talk(runner)))
""",
    )
    assert result["imported in"] is None
    assert not result["early"]


@pytest.mark.parametrize(
    ("arguments", "forks"),
    [
        ("('telling:TELLS',)", True),
        ("('telling:TELLS',), in_process=True", False),
        ("('telling:TELLS', 'telling:NO_SUCH')", False),
        ("('no-such-adapter',)", False),
    ],
    ids=["an adapter", "in this process", "an attribute that is missing", "an unknown name"],
)
def test_a_command_prepares_for_subjects_that_there_are(tmp_path: Path, arguments: str, forks: bool) -> None:
    result = outcome(
        tmp_path,
        f"""
from turnproof.commands.cli.prestart import prepare_workers
prepare_workers({arguments})
heavy = ("aiohttp", "jinja2", "pytest", "turnproof.run.driver.runner", "turnproof.run.driver.preload")
found(forks=prefork.context(["early_sdk"]) is not None, heavy=[name for name in heavy if name in sys.modules])
""",
    )
    assert result == {"forks": forks, "heavy": []}


@pytest.mark.parametrize("command", ["certify", "compare", "explore", "handoff", "mutants", "record"])
def test_a_command_prepares_its_workers_before_it_imports_its_engine(tmp_path: Path, command: str) -> None:
    result = outcome(
        tmp_path,
        f"""
def prepare(modules):
    heavy = ("aiohttp", "jinja2", "pytest", "turnproof.commands.certify", "turnproof.run.driver.runner")
    found(modules=[*modules], heavy=[name for name in heavy if name in sys.modules])
    sys.stdout.flush()
    os._exit(0)
prefork.prepare = prepare
from turnproof.commands.cli import main
main([{command!r}, "telling:TELLS"])
""",
    )
    assert result == {"modules": ["early_sdk", "early.sdk"], "heavy": []}
