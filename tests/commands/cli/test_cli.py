"""The command line: what is said where, and every exit code. Real processes where a process is what is promised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from report.runs import GOOD, RESULTS, write_run

from turnproof import __version__
from turnproof._base.exit_codes import Exit, heaviest
from turnproof.commands.certify import engine
from turnproof.commands.certify.options import CertifyOptions, MutantsOptions
from turnproof.commands.cli import main
from turnproof.errors import HarnessError, UsageError
from turnproof.run.bindings import binding_names


def turnproof(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import sys; from turnproof.commands.cli import main; sys.exit(main())", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test stands in an empty folder, so that no settings but its own are found."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[CertifyOptions]]:
    """Puts an engine in place that notes its options, writes a hand-made run, and ends as told."""

    def place(ends: int | BaseException = 0, write: bool = True) -> list[CertifyOptions]:
        seen: list[CertifyOptions] = []

        def certify(options: CertifyOptions) -> int:
            seen.append(options)
            if write:
                write_run(options.out / "run.ndjson", GOOD, exit_code=ends if isinstance(ends, int) else None)
            if isinstance(ends, BaseException):
                raise ends
            return ends

        monkeypatch.setattr(engine, "certify", certify)
        return seen

    return place


# -- talk, data and exit codes in a real process -----------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("certify", "--help")])
def test_help_is_data_and_has_no_exit_line(elsewhere: Path, words: Sequence[str]) -> None:
    done = turnproof(*words, folder=elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: turnproof" in done.stdout


def test_the_help_has_the_exit_codes(elsewhere: Path) -> None:
    text = " ".join(turnproof("--help", folder=elsewhere).stdout.split())
    for code in Exit:
        assert f"{int(code)} " in text
    assert "130 interrupted" in text


def test_help_and_mistakes_import_no_engine(elsewhere: Path) -> None:
    heavy = (
        "aiohttp",
        "anthropic",
        "rich.table",
        "pytest",
        "jinja2",
        "turnproof.judge.requirements",
        "turnproof.run.driver",
    )
    script = (
        "import sys; from turnproof.commands.cli import main; main(['--help']); main(['nonsense'])\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("certfy",), "error: No such command 'certfy'. Did you mean 'certify'"),
        (("certify", "--dept", "full"), "error: No such option: --dept (Possible options: --accept, --depth"),
        (("certify", "--depth", "deep"), "'deep' is not one of 'quick', 'full'"),
        (("certify", "-j", "0"), "should be greater than or equal to 1"),
        (
            ("report", "nowhere"),
            "error: nowhere: there is no such folder; turnproof certify --out nowhere makes a run there",
        ),
        (("explain",), "error: Missing argument 'ID|CODE|RULE'"),
        (("record", "openai", "--price", "null", "1"), "unable to parse string as a number"),
        (("record", "openai", "--price", "nan", "1"), "error: --price takes two amounts in US dollars, in and out"),
        (("census", "openai-chat", "--price", "1", "-3"), "error: --price takes two amounts in US dollars, in and out"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(elsewhere: Path, words: Sequence[str], says: str) -> None:
    done = turnproof(*words, folder=elsewhere)
    assert done.returncode == 2
    assert done.stdout == ""
    line, last = done.stderr.splitlines()
    assert says in line
    assert last == "exit 2: usage, environment or harness fault"


def test_wrong_settings_are_exit_code_2(elsewhere: Path) -> None:
    (elsewhere / "turnproof.toml").write_text("deph = 'full'")
    done = turnproof("certify", folder=elsewhere)
    assert done.returncode == 2
    assert "unknown key 'deph'; did you mean 'depth'?" in done.stderr


def test_an_unknown_adapter_is_exit_code_2(elsewhere: Path) -> None:
    done = turnproof("certify", "antropic", folder=elsewhere)
    assert done.returncode == 2
    assert "unknown adapter, session or agent 'antropic'; did you mean 'anthropic'?" in done.stderr
    assert not (elsewhere / "reports").exists()


@pytest.mark.parametrize(("exit_code", "code"), [(0, 0), (1, 0), (None, 3)])
def test_report_writes_all_reports_again_and_is_loud_about_a_cut_run(
    elsewhere: Path, exit_code: int | None, code: int
) -> None:
    write_run(elsewhere / "reports" / "run.ndjson", RESULTS, exit_code=exit_code)
    done = turnproof("report", folder=elsewhere)
    assert done.returncode == code
    assert "anthropic: " in done.stdout
    assert ("This run was cut, " in done.stdout) is (exit_code is None)
    # 0 says that reports were written, and not that the run was good.
    last = "exit 3: nothing measured, or a MUST inconclusive" if code else "reports: reports/index.html"
    assert done.stderr.splitlines()[-1] == last
    written = {file.name for file in (elsewhere / "reports").iterdir()}
    assert written == {
        "run.ndjson", "certification.json", "junit.xml", "turnproof.sarif", "summary.md", "index.html",
            "badge-anthropic.json", "brief-anthropic.html", "picture-anthropic.svg",
    }  # fmt: skip


def test_json_is_alone_on_stdout(elsewhere: Path) -> None:
    write_run(elsewhere / "reports" / "run.ndjson")
    done = turnproof("report", "--json", folder=elsewhere)
    assert json.loads(done.stdout)["schema"] == "turnproof.certification/1"


def test_a_terminal_that_knows_only_ascii_gets_words(elsewhere: Path) -> None:
    write_run(elsewhere / "reports" / "run.ndjson")
    done = turnproof("report", folder=elsewhere, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "? violated tools/results-answer-every-call [legacy]" in done.stdout


# -- certify: options in, exit code out --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "code", "last"),
    [
        (0, 0, "exit 0: ok"),
        (1, 1, "exit 1: violations"),
        (3, 3, "exit 3: nothing measured, or a MUST inconclusive"),
        (UsageError("no\nsuch thing"), 2, "exit 2: usage, environment or harness fault"),
        (HarnessError("port taken"), 2, "exit 2: usage, environment or harness fault"),
        (ZeroDivisionError("oops"), 2, "exit 2: usage, environment or harness fault"),
        (KeyboardInterrupt(), 130, "exit 130: interrupted"),
    ],
)
def test_how_a_certification_ends(
    measured: Callable[..., list[CertifyOptions]],
    capsys: pytest.CaptureFixture[str],
    ends: int | BaseException,
    code: int,
    last: str,
) -> None:
    measured(ends)
    assert main(["certify"]) == code
    out, err = capsys.readouterr()
    assert err.splitlines()[-1] == last
    assert ("anthropic: " in out) is (code != 2)


def test_our_own_fault_is_one_line_unless_more_is_asked_for(
    measured: Callable[..., list[CertifyOptions]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured(ZeroDivisionError("oops"))
    main(["certify"])
    assert (
        capsys.readouterr().err.splitlines()[0].startswith("error: turnproof failed: ZeroDivisionError: oops (test_cli")
    )
    monkeypatch.setenv("TURNPROOF_TRACEBACK", "1")
    main(["certify"])
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupted_run_is_shown_as_far_as_it_came(
    measured: Callable[..., list[CertifyOptions]], capsys: pytest.CaptureFixture[str]
) -> None:
    measured(KeyboardInterrupt())
    assert main(["certify"]) == 130
    assert "This run was cut, " in capsys.readouterr().out


def test_an_older_run_is_not_shown_for_one_that_was_interrupted_at_once(
    elsewhere: Path, measured: Callable[..., list[CertifyOptions]], capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(elsewhere / "reports" / "run.ndjson")
    measured(KeyboardInterrupt(), write=False)
    assert main(["certify"]) == 130
    assert capsys.readouterr().out == ""


def test_certify_can_print_json(
    measured: Callable[..., list[CertifyOptions]], capsys: pytest.CaptureFixture[str]
) -> None:
    measured(0)
    main(["certify", "--json"])
    assert json.loads(capsys.readouterr().out)["adapters"]["anthropic"]["certified"] is True


def test_without_anything_said_the_defaults_hold(measured: Callable[..., list[CertifyOptions]]) -> None:
    seen = measured()
    main(["certify"])
    options = seen[0]
    assert options.adapters == tuple(binding_names())
    assert (options.backend, options.depth, options.out, options.seed) == (None, "quick", Path("reports"), 0)
    assert options.reproduce == ()


def test_every_option_reaches_the_engine(measured: Callable[..., list[CertifyOptions]]) -> None:
    seen = measured()
    words = (
        "certify a b a --only x/y --only tools/* --skip z --profile core --path legacy --backend emulate --depth full "
        "--out elsewhere -j 3 --seed 7 --accept --in-process"
    )
    main(words.split())
    options = seen[0]
    assert options.adapters == ("a", "b")
    assert (options.only, options.skip, options.profiles) == (("x/y", "tools/*"), ("z",), ("core",))
    assert (options.path, options.backend, options.depth) == ("legacy", "emulate", "full")
    assert (options.out, options.jobs, options.seed) == (Path("elsewhere"), 3, 7)
    assert options.accept
    assert options.in_process
    assert options.reproduce == ("--backend", "emulate", "--depth", "full", "--seed", "7", "--in-process")


def test_settings_hold_unless_the_command_line_says_otherwise(
    elsewhere: Path, measured: Callable[..., list[CertifyOptions]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "turnproof.toml").write_text(
        'adapters = ["mine:B"]\ndepth = "full"\nseed = 5\njobs = 4\nbackend = "emulate"\nout = "build/proof"\n'
    )
    below = elsewhere / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    seen = measured()
    main(["certify"])
    main(["certify", "other:B", "--seed", "0", "--depth", "quick", "--backend", "replay", "--out", "here", "-j", "1"])
    ours, theirs = seen
    assert (ours.adapters, ours.depth, ours.seed, ours.jobs, ours.backend) == (("mine:B",), "full", 5, 4, "emulate")
    assert ours.out == elsewhere / "build" / "proof"
    assert (theirs.adapters, theirs.depth, theirs.seed, theirs.backend) == (("other:B",), "quick", 0, "replay")
    assert (theirs.out, theirs.jobs) == (Path("here"), 1)


def test_the_heaviest_exit_code_wins() -> None:
    assert heaviest([]) is Exit.OK
    assert heaviest([0, 3]) is Exit.UNDECIDED
    assert heaviest([0, 3, 1]) is Exit.VIOLATIONS
    assert heaviest([1, 2, 3]) is Exit.FAULT
    assert heaviest([2, 130, 1]) is Exit.INTERRUPTED
    assert heaviest([2, 130, 141]) is Exit.READER_GONE


# -- record, serve, mutants: options in ---------------------------------------------------------------------------


def test_record_serve_and_mutants_hand_their_options_on(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from turnproof.commands.certify import mutants, record
    from turnproof.wire.emulator import serve

    seen: list[Any] = []

    def engine_of(options: Any, *_: Any) -> int:
        seen.append(options)
        return 1 if isinstance(options, MutantsOptions) else 0

    monkeypatch.setattr(record, "record", engine_of)
    monkeypatch.setattr(serve, "serve", engine_of)
    monkeypatch.setattr(mutants, "mutants", engine_of)
    (elsewhere / "talks").mkdir()
    (elsewhere / "talks" / "hello.yaml").write_text("title: Hello\nturns:\n  - {user: Hi, model: [[Good day.]]}\n")

    assert (
        main(
            [
                "record",
                "mine:B",
                "--only",
                "tools/*",
                "--live",
                "--max-cost",
                "0.5",
                "--out",
                "there",
                "-j",
                "3",
                "--seed",
                "9",
            ]
        )
        == 0
    )
    assert main(["serve", "--port", "8001", "--scenario", "talks/hello.yaml", "--key", "secret"]) == 0
    assert main(["mutants", "mine:B", "--only", "drop-*", "--json", "-j", "1"]) == 1

    recorded, served, broken = seen
    assert (recorded.adapter, recorded.only, recorded.live, recorded.max_cost) == ("mine:B", ("tools/*",), True, 0.5)
    assert (recorded.out, recorded.jobs, recorded.seed) == (Path("there"), 3, 9)
    assert (served.port, served.key, served.scenario.name) == (8001, "secret", "talks/hello")
    assert broken == MutantsOptions(adapter="mine:B", only=("drop-*",), jobs=1, json=True)
    assert capsys.readouterr().err.splitlines()[-1] == "exit 1: violations"


def test_serve_finds_scenarios_of_the_suite_by_name(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from turnproof.wire.emulator import serve

    names: list[str] = []

    def engine_of(options: Any, *_: Any) -> int:
        names.append(options.scenario.name)
        return 0

    monkeypatch.setattr(serve, "serve", engine_of)
    listed = json.loads(turnproof("list", "scenarios", "--json", folder=elsewhere).stdout)["scenarios"]
    assert main(["serve", "--scenario", listed[0]["name"]]) == 0
    assert names == [listed[0]["name"]]
    assert main(["serve", "--scenario", "nothing/like-it"]) == 2


def test_the_version_is_data(elsewhere: Path) -> None:
    done = turnproof("--version", folder=elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"turnproof {__version__}\n", "")


# -- list, explain -----------------------------------------------------------------------------------------------


def test_list_tells_what_there_is(elsewhere: Path) -> None:
    done = turnproof("list", "--json", folder=elsewhere)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    kinds = "adapters sessions agents dialects profiles requirements findings scenarios mutants differences"
    assert list(found) == kinds.split()
    assert all(found.values())
    assert "anthropic" in [row["name"] for row in found["adapters"]]
    assert {"name": "reference", "run with": "anthropic", "paths": ["stateless", "legacy"], "lacks": ["nothing"]} in (
        found["sessions"]
    )
    shown = turnproof("list", "requirements", folder=elsewhere)
    for row in found["requirements"]:
        assert row["id"] in shown.stdout


def test_explain_tells_a_requirement_in_full(elsewhere: Path) -> None:
    listed = json.loads(turnproof("list", "requirements", "--json", folder=elsewhere).stdout)["requirements"]
    name = listed[0]["id"]
    done = turnproof("explain", name, folder=elsewhere)
    assert done.returncode == 0, done.stderr
    for words in (
        name,
        listed[0]["title"],
        "why",
        "what a user notices",
        "likely cause",
        "checked by",
        "may find",
        "sources",
    ):
        assert words in done.stdout
    assert json.loads(turnproof("explain", name, "--json", folder=elsewhere).stdout)["id"] == name


def test_explain_names_the_places_that_show_a_rule_of_the_wire(elsewhere: Path) -> None:
    done = turnproof("explain", "gemini/call-turn", folder=elsewhere)
    assert done.stdout.startswith("gemini/call-turn  (issue, enforced: such a request is refused)\n")
    assert "https://github.com/continuedev/continue/issues/11164 (2026-11-26)" in done.stdout
    found = json.loads(turnproof("explain", "gemini/moved-signature", "--json", folder=elsewhere).stdout)
    assert (found["evidence"], found["enforced"], found["sources"]) == ("inferred", False, [])
    assert "gemini/call-turn" in turnproof("explain", "gemini/call-tur", folder=elsewhere).stderr


def test_explain_knows_what_was_meant(elsewhere: Path) -> None:
    listed = json.loads(turnproof("list", "requirements", "--json", folder=elsewhere).stdout)["requirements"]
    name = listed[0]["id"]
    done = turnproof("explain", name[:-1], folder=elsewhere)
    assert done.returncode == 2
    assert f"did you mean {name!r}?" in done.stderr
    for unknown in (name[:-1], "nosuch"):
        hint = turnproof("explain", unknown, folder=elsewhere).stderr
        assert "`turnproof list requirements` shows all" in hint


# -- verify ------------------------------------------------------------------------------------------------------


def test_verify_says_when_a_line_of_the_run_was_changed(elsewhere: Path) -> None:
    path = elsewhere / "reports" / "run.ndjson"
    write_run(path, RESULTS)
    path.write_text(path.read_text().replace('"status":"violated"', '"status":"held"'))
    done = turnproof("verify", folder=elsewhere)
    assert done.returncode == 1
    assert "they no longer have the digest of its footer" in done.stdout


def test_verify_of_nothing_is_no_success(elsewhere: Path) -> None:
    write_run(elsewhere / "reports" / "run.ndjson", (), exit_code=3)
    assert turnproof("verify", folder=elsewhere).returncode == 3
