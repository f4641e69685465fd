"""Every task of the project, each in its own virtual environment. `nox` alone certifies the reference adapters."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import sys

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["certify"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
CASSETTES = ["-e", "./cassettes"]
"""A separate distribution; with it, certifications of the reference adapters replay. As links: it has 33 MB."""

ADAPTERS = sorted(PYPROJECT["project"]["entry-points"]["turnproof.adapters"])
PEERS = ["langchain", "pydantic-ai", "litellm", "any-llm"]
CERTIFIED_PEERS = nox.project.load_toml("docs/findings/versions.toml")
"""Libraries with a page in `docs/findings/`: the page's versions, and the bindings."""

QUIET_MKDOCS = {"NO_MKDOCS_2_WARNING": "1"}
"""Its theme prints a page about the future of MkDocs into every build otherwise."""

SECOND_MODELS = ["anthropic=claude-opus-4-8", "google_genai=gemini-2.5-flash"]
AGENTS = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "claude-agent-acp": "@agentclientprotocol/claude-agent-acp@0.49.0",
    "codex-acp": "@zed-industries/codex-acp@0.16.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "codex": "@openai/codex@0.169.0",
}
AIMOCK = "@copilotkit/aimock"
SEEN_AFTER_KILLS = [
    "killed-agent-ends-the-turn",
    "earlier-turns-survive-a-kill",
    "loss-is-not-hidden",
    "resume-brings-back-what-was-said",
    "resume-keeps-the-id",
    "no-process-is-left",
]
STRANGE = ["anthropic", "google_genai", "openai"]
EXPLORED = [*ADAPTERS, *(f"reference@{name}" for name in ADAPTERS)]


def group(name: str) -> list[str]:
    """The packages of a dependency group."""
    return nox.project.dependency_groups(PYPROJECT, name)


def run_from_tests(session: nox.Session, module: str) -> None:
    """Run a command that the tests hold, with everything that the tests need."""
    session.install("-e", ".[all]", *CASSETTES, *group("test"))
    session.run("python", "-m", module, *session.posargs)


@nox.session
def certify(session: nox.Session) -> None:
    """Certify adapters (`nox -s certify -- anthropic --depth full`); reports go to `reports/`."""
    session.install(".[all]", *CASSETTES)
    session.run("turnproof", "certify", *(session.posargs or ADAPTERS))


@nox.session
def compare(session: nox.Session) -> None:
    """Show both paths of an adapter side by side (`nox -s compare -- anthropic --scenario 'tools/*'`)."""
    session.install(".[all]", *CASSETTES)
    each = [[name, "--depth", "full", "--out", f"reports/compare-{name}"] for name in ADAPTERS]
    for words in [session.posargs] if session.posargs else each:
        session.run("turnproof", "compare", *words)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the project's own tests (`nox -s tests -- tests/commands/cli/test_cli.py -x`)."""
    ready_for_tests(session)
    session.run("pytest", *(session.posargs or every_core()))


@nox.session
def long(session: nox.Session) -> None:
    """Run the tests that take minutes each, which `nox -s tests` leaves out."""
    ready_for_tests(session)
    session.run("pytest", "-m", "long", *(session.posargs or every_core()))


@nox.session
def checkers(session: nox.Session) -> None:
    """Have public checkers of LLM APIs judge the emulator, and adapters run behind a public mock: some minutes.

    `nox -s checkers -- -k anthropic` is for one dialect. The mock needs npm.
    """
    ready_for_tests(session)
    if shutil.which("npm"):
        folder = pathlib.Path(session.virtualenv.location).resolve() / "aimock"
        session.run("npm", "install", "--silent", "--prefix", str(folder), f"{AIMOCK}@1.43.0", external=True)
        session.env["TURNPROOF_AIMOCK"] = str(folder / "node_modules" / AIMOCK)
    session.run("pytest", "-m", "long", "tests/checkers", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the project's own tests and report what they cover. Each line is counted, which takes two thirds longer."""
    ready_for_tests(session)
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-m", "", *(session.posargs or every_core()))
    session.run("coverage", "combine", "--quiet")
    whole = [] if session.posargs else ["--fail-under=95"]
    session.run("coverage", "report", "--skip-covered", *whole)


def ready_for_tests(session: nox.Session) -> None:
    """Install what the tests need."""
    session.install("-e", ".[all,pydantic-ai]", *CASSETTES, *group("test"))
    if sys.platform == "linux" and shutil.which("npm"):
        # Microsoft's validator for SARIF, with the schema; tests that need it skip where there is no npm. Not in
        # `create_tmp()`: that would put the temporary files of the tests into this checkout, with its settings.
        folder = pathlib.Path(session.virtualenv.location).resolve() / "sarif"
        package = "@microsoft/sarif-multitool-linux"
        session.run("npm", "install", "--silent", "--prefix", str(folder), f"{package}@5.7.0", external=True)
        session.env["TURNPROOF_SARIF_MULTITOOL"] = str(folder / "node_modules" / package)
    # Tests start hundreds of processes: where nothing compiled may be written, each compiles the whole package again.
    session.env["PYTHONDONTWRITEBYTECODE"] = ""


def every_core() -> list[str]:
    """How to run all tests at once.

    A file stays in one process: its fixtures start servers and whole commands. In their order: by the number of their
    tests the slowest files would come last, and one core would wait for the other. One process more than there are
    cores, because a fifth of the time a test waits for a program, a clock or a socket.
    """
    return ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--no-loadscope-reorder"]


@nox.session
def deep(session: nox.Session) -> None:
    """Run property tests fifty times as long, with new inputs each time (`nox -s deep -- tests/collectors`)."""
    session.install("-e", ".[all]", *CASSETTES, *group("test"))
    session.run("pytest", "-m", "hypothesis", "--hypothesis-profile", "deep", "--timeout", "1800", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """Look at the report and the site in this machine's Chromium: load time, links, injection, accessibility."""
    session.install("-e", ".[all]", *CASSETTES, *group("test"), *group("browser"), *group("docs"))
    session.run("python", "-m", "mkdocs", "build", "--quiet", env=QUIET_MKDOCS)
    session.run("pytest", *(session.posargs or ["tests/browser"]))


@nox.session
def editors(session: nox.Session) -> None:
    """Try schemas and reports in the language services of VS Code's editors for YAML, TOML and JSON; needs npm."""
    session.install("-e", ".[all]", *group("test"))
    folder = pathlib.Path(session.virtualenv.location).resolve() / "editors"
    services = ["yaml-language-server@1.25.0", "vscode-json-languageservice@5.7.2", "@taplo/lib@0.5.0"]
    services += ["@microsoft/sarif-multitool-linux@5.7.0"] if sys.platform == "linux" else []
    session.run("npm", "install", "--silent", "--no-audit", "--prefix", str(folder), *services, external=True)
    session.env["TURNPROOF_EDITOR_SERVICES"] = str(folder / "node_modules")
    session.run("pytest", *(session.posargs or ["tests/editors"]))


@nox.session
def kill(session: nox.Session) -> None:
    """Kill a process that takes turns a thousand times, and look for lost ones (`nox -s kill -- --times 50`)."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.session.store.kill", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """Make 2,000 mixed runs on a cluster whose workers are killed all the while (`nox -s cluster -- --runs 300`)."""
    run_from_tests(session, "tests.run.cluster.lost_workers")


@nox.session
def resume(session: nox.Session) -> None:
    """Kill 20 certifications at random moments and go on with each: they come to what an unbroken one comes to."""
    run_from_tests(session, "tests.commands.resume_table")


@nox.session
def poisons(session: nox.Session) -> None:
    """Run every adapter that spoils its process beside an innocent one, whose digest may not change."""
    session.install("-e", ".[all]", *CASSETTES, *group("test"))
    session.run("pytest", "tests/run/driver/test_neighbours.py", env={"TURNPROOF_EVERY_POISON": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and form of the code, and the words of the texts (`docs/style.md`)."""
    session.install(*group("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("python", "docs/prose_lint.py")
    session.run("python", "docs/name_lint.py")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into `build/site`, strictly, and follow every link of it (`nox -s docs -- --serve` to read it).

    `nox -s docs -- --commands` runs the commands of the pages, those of some with their names behind it.
    """
    session.install("-e", ".", *group("docs"))
    if session.posargs == ["--serve"]:
        session.run("python", "-m", "mkdocs", "serve", env=QUIET_MKDOCS)
        return
    if session.posargs[:1] == ["--commands"]:
        session.install("-e", ".[all,bench,explore,plots]", *CASSETTES, "pytest-benchmark")
        session.run("python", "-m", "website.run_blocks", *session.posargs[1:], env={"PYTHONDONTWRITEBYTECODE": ""})
        return
    session.run("python", "-m", "mkdocs", "build", "--quiet", env=QUIET_MKDOCS)
    session.run("python", "-m", "website.check", "build/site")


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check the types, strictly: of the packages, then of their tests."""
    session.install("-e", ".[all,bench,explore,plots,pydantic-ai,telemetry,transport,vcr]", *group("typecheck"))
    session.install(*group("test"), *group("browser"))
    session.run("mypy", *session.posargs)
    if not session.posargs:
        session.run("mypy", "tests")


@nox.session
def layers(session: nox.Session) -> None:
    """Check that no layer imports from a layer above it."""
    session.install(*group("lint"))
    session.install("--no-deps", "-e", ".", *CASSETTES)
    session.run("lint-imports")


@nox.session(python=["3.11", "3.12", "3.13"])
@nox.parametrize("sdk", ["oldest", "newest"])
@nox.parametrize("adapter", ADAPTERS)
def matrix(session: nox.Session, adapter: str, sdk: str) -> None:
    """Certify an adapter with one Python and one end of its SDK's versions (`nox -s matrix -p 3.12 -k openai`)."""
    needed = PYPROJECT["project"]["optional-dependencies"][adapter.replace("_", "-")]
    pins = [bound.replace(">=", "==") for bound in needed] if sdk == "oldest" else []
    session.install(f".[{adapter}]", *CASSETTES, *pins)
    session.run("turnproof", "certify", adapter, "--out", f"reports/matrix/{adapter}-{session.python}-{sdk}")


@nox.session
def merge(session: nox.Session) -> None:
    """Merge what `matrix` has measured into one report, and list its missing cells."""
    session.install(".")
    listed = session.run(sys.executable, "-m", "nox", "-s", "matrix", "--list", "--json", external=True, silent=True)
    cells = [(cell["call_spec"], cell["python"]) for cell in json.loads(str(listed))]
    names = sorted(f"{spec['adapter']}-{python}-{spec['sdk']}" for spec, python in cells)
    session.run("turnproof", "merge", "reports/matrix", *(word for name in names for word in ("--expect", name)))


@nox.session
def oldest(session: nox.Session) -> None:
    """Find the oldest versions of their SDKs that adapters are certified with (`nox -s oldest -- anthropic`)."""
    session.install("-e", ".[all]", *CASSETTES, "pip")
    session.run("python", "-m", "tests.oldest", *(session.posargs or ADAPTERS))


@nox.session
def mutants(session: nox.Session) -> None:
    """Break adapters and the session in every known way and show what catches it (`nox -s mutants -- anthropic`)."""
    session.install(".[all,telemetry]", *CASSETTES, *group("test"))
    for subject in session.posargs or (*ADAPTERS, "reference"):
        session.run("turnproof", "mutants", subject, "--out", f"reports/mutants-{subject}")
    if not session.posargs:
        # What breaks agents needs one that is quick to start and to be killed; the tests have it. Others say where the
        # findings point to.
        tests = "tests/mutants/test_agent_mutants.py", "tests/suites/test_pointers.py"
        session.run("pytest", *tests, env={"TURNPROOF_EVERY_MUTANT": "1"})


@nox.session
def mutation(session: nox.Session) -> None:
    """Change adapters by a mutation tool and show what nothing notices (`nox -s mutation -- --sample 20`)."""
    run_from_tests(session, "tests.mutation")


@nox.session
def gate(session: nox.Session) -> None:
    """Open or close the gate of a migration phase for the reference session (`nox -s gate -- --phase 1`)."""
    session.install(".[all]", *CASSETTES)
    session.run("turnproof", "gate", *(session.posargs or ["--phase", "2"]))


@nox.session
def show(session: nox.Session) -> None:
    """Make everything that a report can show, and look at it in a browser: about an hour (`nox -s show -- anthropic`).

    Adapters are certified and measured next to other libraries; one of them is broken on purpose and its paths are
    compared; the example framework is taken through all five gates.
    """
    session.install("-e", ".[all,bench,plots,telemetry,vcr]", *CASSETTES, "pytest-recording>=0.13")
    adapters = session.posargs or ADAPTERS
    session.run("turnproof", "certify", *adapters)
    session.run("turnproof", "mutants", adapters[0], "--out", "reports/mutants")
    session.run("turnproof", "compare", adapters[0], "--depth", "full", "--out", "reports/compare")
    reports = pathlib.Path("reports").resolve()
    example = pathlib.Path(session.create_tmp()) / "loom"
    shutil.rmtree(example, ignore_errors=True)
    shutil.copytree("examples/migration", example)
    for phase, change in enumerate(sorted(pathlib.Path("examples/migration/changes").resolve().glob("*.patch")), 1):
        with session.chdir(example):
            gate = ["turnproof", "gate", "--phase", str(phase), "--depth", "quick", "--out"]
            session.run(*gate, "before", success_codes=[1])
            session.run("git", "apply", str(change), external=True)
            session.run(*gate, str(reports / "gates"))
    beside = [word for name in PEERS for word in ("--peer", name)]
    session.run("turnproof", "bench", *adapters, "--self", *beside, "--out", "reports/bench.json")
    session.run("turnproof", "report")
    session.notify("browser", ())


@nox.session
def agents(session: nox.Session) -> None:
    """Test and certify what drives agents with the real programs, installed here by npm (1.3 GB): half an hour.

    They talk to the emulator alone, with a key that opens nothing, and see no home but their own. Names of programs
    behind `--` take those alone.
    """
    session.install("-e", ".[all]", *CASSETTES, *group("test"))
    folder = pathlib.Path(session.create_tmp()).resolve() / "programs"
    found = {}
    for name, package in AGENTS.items():
        if not session.posargs or name in session.posargs:
            session.run("npm", "install", "--silent", "--prefix", str(folder / name), package, external=True)
            found[name] = str(folder / name / "node_modules/.bin" / name)
            bare = package.rpartition("@")[0]
            installed = json.loads((folder / name / "node_modules" / bare / "package.json").read_text())
            session.log(f"{bare} {installed['version']}")
    if claude := found.get("claude"):
        env = {"TURNPROOF_CLAUDE": claude}
        session.run("pytest", "tests/adapters/claude_cli", "tests/adapters/claude_agent", env=env)
    surfaces = {"codex": "TURNPROOF_CODEX", "gemini": "TURNPROOF_GEMINI"}
    if env := {variable: found[name] for name, variable in surfaces.items() if name in found}:
        session.run("pytest", "tests/dialects/test_through_real_programs.py", env=env)
    spoken = {"claude-agent-acp": "claude_acp", "codex-acp": "codex_acp", "gemini": "gemini_acp"}
    for name in spoken.keys() & found:
        session.run("pytest", "tests/adapters/acp", env={"TURNPROOF_ACP": found[name]})
    here = {"claude": "claude_agent", **spoken}
    certified = [agent for name, agent in here.items() if name in found]
    programs = [str(pathlib.Path(one).parent) for one in found.values()]
    path = os.pathsep.join([*programs, session.bin, os.environ.get("PATH", "")])  # some are scripts for node
    passthrough = ["turnproof_adapters.claude_cli.binding:BINDING"] if "claude" in found else []
    if certified:
        session.run("turnproof", "certify", *certified, *passthrough, "--out", "reports/agents", env={"PATH": path})
        # Killed at every event of an answer, with what can be seen there: each of it has to be decided.
        seen = [word for name in SEEN_AFTER_KILLS for word in ("--only", f"sessions/{name}")]
        killed = ["--scenario", "sessions/killed_anywhere#*", "--depth", "full", "--out", "reports/agents-killed"]
        session.run("turnproof", "certify", *certified, *seen, *killed, env={"PATH": path})
        session.run("python", "benchmarks/agent_turns.py", *certified, env={"PATH": path})


@nox.session
def handoff(session: nox.Session) -> None:
    """Hand a conversation over between any two adapters, paths and models, and back (`nox -s handoff -- -v`)."""
    session.install(".[all]")
    session.run("turnproof", "handoff", *(session.posargs or [*ADAPTERS, *SECOND_MODELS]))


@nox.session
def record(session: nox.Session) -> None:
    """Record the cassettes of adapters from the emulator into the checkout (`nox -s record -- anthropic`)."""
    session.install("-e", ".[all]", *CASSETTES)
    for adapter in session.posargs or ADAPTERS:
        session.run("turnproof", "record", adapter)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure all adapters and turnproof itself, draw plots (`nox -s bench -- anthropic --quick` for a turn alone).

    Without arguments the turns of all adapters are also written as pytest-benchmark writes them.
    """
    session.install("-e", ".[all,bench,plots,telemetry,vcr]", *CASSETTES, "pytest-recording>=0.13")
    session.run("turnproof", "bench", *(session.posargs or (*ADAPTERS, "--self", "--out", "reports/bench.json")))
    if not session.posargs:
        session.run("python", "benchmarks/bench_history.py")
        session.run("python", "benchmarks/bench_telemetry.py")
        session.run("python", "benchmarks/bench_subagents.py")
        items = [f"--turnproof-bench={adapter}" for adapter in ADAPTERS]
        file = pathlib.Path("reports/pytest-benchmark.json").resolve()
        # In an empty folder and without settings: the tests of this project are not to run.
        session.chdir(session.create_tmp())
        session.run("pytest", "-c", os.devnull, "--rootdir", ".", *items, f"--benchmark-json={file}")


@nox.session
def bench_peers(session: nox.Session) -> None:
    """Measure adapters next to well-known libraries (`nox -s bench_peers -- openai --peer litellm`)."""
    session.install("-e", ".[all,bench,plots]")
    beside = [word for name in PEERS for word in ("--peer", name)]
    usual = ("anthropic", "google_genai", "openai", *beside, "--out", "reports/bench-peers/bench.json")
    session.run("turnproof", "bench", *(session.posargs or usual))


@nox.session
@nox.parametrize("library", list(CERTIFIED_PEERS))
def peers(session: nox.Session, library: str) -> None:
    """Certify well-known libraries as controls of the suites (`nox -s peers -k langchain`).

    Each has its own environment with pinned versions. A violation that its page in `docs/findings/` does not have fails
    the session, and so does one that the page has and the certification has not.
    """
    peer = CERTIFIED_PEERS[library]
    session.install(".", *peer["packages"])
    (page,) = pathlib.Path("docs/findings").glob(f"{library.replace('_', '-')}-[0-9]*.md")
    module = f"turnproof_adapters.peers.{library}"
    out = f"reports/peers-{library}"
    certified = [f"{module}:{binding}" for binding in peer["bindings"]]
    quick = ["--depth", "quick", "--backend", "emulate", "--out", out]
    session.run("turnproof", "certify", *certified, *quick, success_codes=[0, 1])
    session.run("python", "docs/compare_findings.py", str(page), f"{out}/certification.json")


@nox.session
def release(session: nox.Session) -> None:
    """Build the distributions into `dist/` and try them in clean environments (`nox -s release -- openai bench`).

    Without names the core and every extra are tried, each in its own environment.
    """
    session.install(*group("release"), "PyYAML")
    dist = pathlib.Path("dist").resolve()
    shutil.rmtree(dist, ignore_errors=True)
    for folder in (".", "cassettes"):
        session.run("python", "-m", "build", "--outdir", str(dist), folder)
    built = sorted(map(str, dist.iterdir()))
    session.run("twine", "check", "--strict", *built)
    (wheel,) = dist.glob("turnproof-*.whl")
    (cassettes,) = dist.glob("turnproof_cassettes-*.whl")
    session.run("check-wheel-contents", str(wheel))
    session.run("check-wheel-contents", "--no-config", "--toplevel", "turnproof_cassettes", str(cassettes))
    if "urls" not in PYPROJECT["project"]:
        session.warn("pyproject.toml has no project.urls: add the address of the repository before an upload")
    extras = session.posargs or ["", *PYPROJECT["project"]["optional-dependencies"]]
    for extra in extras:
        try_wheel(session, wheel, extra)
    if not session.posargs:
        try_readme(session, next(dist.glob("turnproof-*.tar.gz")))
        session.run("python", "-m", "tests.ci.install", str(wheel))


def try_wheel(session: nox.Session, wheel: pathlib.Path, extra: str) -> None:
    """Install the wheel with one extra into an empty environment; the adapter of that name is certified there."""
    folder = pathlib.Path(session.create_tmp()).resolve() / (extra or "core")
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "venv", str(folder))
    python = str(folder / "bin" / "python")
    session.run(python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]" if extra else str(wheel), external=True)
    session.run(python, "-m", "pip", "check", external=True)
    command = [str(folder / "bin" / "turnproof")]
    with session.chdir(folder):
        session.run(*command, "list", "requirements", external=True, silent=True)
        if (adapter := extra.replace("-", "_")) in ADAPTERS:
            part = ["--only", "tools/results-answer-every-call", "--scenario", "tools/parallel"]
            session.run(*command, "certify", adapter, *part, "--out", "reports", external=True)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    session.log(f"{extra or 'core'}: {size / 1e6:.0f} MB with everything it needs")
    shutil.rmtree(folder)


def try_readme(session: nox.Session, sdist: pathlib.Path) -> None:
    """Run the first command of the README in the unpacked source distribution."""
    folder = pathlib.Path(session.create_tmp()).resolve()
    shutil.unpack_archive(sdist, folder, filter="data")
    checkout = folder / sdist.name.removesuffix(".tar.gz")
    readme = (checkout / "README.md").read_text("utf-8")
    command = next(line for line in readme.splitlines() if line.startswith("python3 -m venv"))
    with session.chdir(checkout):
        session.run("bash", "-c", command, external=True)
    shutil.rmtree(checkout)


@nox.session
def models(session: nox.Session) -> None:
    """Write the table of models from its sources (`nox -s models -- --refresh` reads the published windows again)."""
    session.install("genai-prices")
    session.run("python", "models/build.py", *session.posargs)


@nox.session
def explore(session: nox.Session) -> None:
    """Try random scenarios on adapters and session, 3000 and then 300 at each of ten seeds newly drawn: some hours.

    `nox -s explore -- anthropic --seed 7` tries one subject. `TURNPROOF_SEED` draws the same seeds again.
    """
    session.install(".[all,explore,telemetry]")
    drawn = random.Random(drawn_seed(session))
    seeds = [str(drawn.randrange(10**6)) for _ in range(10)]
    every = [["-n", "3000"], *(["-n", "300", "--seed", seed] for seed in seeds)]
    for words in [session.posargs] if session.posargs else [[name, *each] for name in EXPLORED for each in every]:
        session.run("turnproof", "explore", *words)


@nox.session
def live(session: nox.Session) -> None:
    """Certify adapters live against llama.cpp's own server with a made-up model (`nox -s live -- openai`).

    The wheel `xllamacpp` has the server, 34 MB; there is one for Linux and macOS.
    """
    if sys.platform not in ("linux", "darwin"):
        session.skip("xllamacpp has wheels for Linux and macOS alone")
    session.install("-e", ".[all]", "xllamacpp", "gguf")
    session.run("python", "-m", "tests.live", *session.posargs)


@nox.session
def closed(session: nox.Session) -> None:
    """Judge the reference session as one that opens its own client, against itself with all its calls shown.

    `nox -s closed -- openai`: what is decided of both, and which broken adapters are found in both.
    """
    run_from_tests(session, "tests.closed")


@nox.session
def strangers(session: nox.Session) -> None:
    """Accuse no right adapter: each alone, in random pairs and triples, and with names that no list has.

    `TURNPROOF_SEED` draws the same ones again; `nox -s strangers -- openai` changes one adapter only.
    """
    session.install("-e", ".[all,right]", *CASSETTES, *group("test"))
    seed = drawn_seed(session)
    for name in session.posargs or STRANGE:
        session.run("turnproof", "mutants", name, "--right", "--combine", "12", "--seed", seed)
    tests = ["tests/dialects/test_field_names.py", "tests/dialects/test_unlisted_models.py"]
    session.run("pytest", "-q", "-n", "auto", *tests, env={"TURNPROOF_SEED": seed})


def drawn_seed(session: nox.Session) -> str:
    """What every random choice of a session follows from: `TURNPROOF_SEED`, else a new one."""
    seed = os.environ.get("TURNPROOF_SEED") or str(random.randrange(10**6))
    session.log(f"TURNPROOF_SEED={seed}")
    return seed
