"""What an agent of a run stands on: its folders, what is changed in them, and its sessions by label."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof.run.driver.agent_sandbox import NO_SESSION, AgentSandbox, Labels, Untold

ONE = "6f1c2a9e-0000-4000-8000-000000000001"
OTHER = "77aa01bc-0000-4000-8000-000000000002"


@pytest.fixture
def sandbox(tmp_path: Path) -> AgentSandbox:
    return AgentSandbox(str(tmp_path))


# -- labels


def test_the_first_id_that_is_told_is_the_first_session() -> None:
    labels = Labels()
    assert labels.label_of_session(None) is None
    assert (labels.label_of_session(ONE), labels.label_of_session(ONE), labels.id_of("first")) == (
        "first",
        "first",
        ONE,
    )


def test_an_id_that_was_expected_gets_its_label_and_others_are_counted() -> None:
    labels = Labels()
    labels.label_of_session(ONE)
    labels.expect("second")
    assert [labels.label_of_session(one) for one in (OTHER, "third", "fourth", "third")] == [
        "second",
        "other-1",
        "other-2",
        "other-1",
    ]


def test_what_is_only_listed_takes_no_label_that_is_expected() -> None:
    labels = Labels()
    labels.label_of_session(ONE)
    labels.expect("second")
    assert labels.label_in_list("somebody-elses") == "other-1"
    assert labels.label_of_session(OTHER) == "second"


def test_nobody_is_an_id_that_no_agent_gives() -> None:
    labels = Labels()
    assert (labels.id_of("nobody"), labels.label_of_session(NO_SESSION)) == (NO_SESSION, "nobody")
    assert labels.label_of_session(ONE) == "first"


def test_a_session_whose_id_was_never_told_cannot_be_asked_for() -> None:
    with pytest.raises(Untold, match="no id of the session 'first'"):
        Labels().id_of("first")


def test_texts_have_labels_in_place_of_ids() -> None:
    labels = Labels()
    labels.label_of_session(ONE)
    assert labels.labelled(f"no {NO_SESSION}, but {ONE}") == "no [nobody], but [first]"


# -- folders


def test_what_nobody_touches_is_not_changed(sandbox: AgentSandbox) -> None:
    sandbox.folder("elsewhere")
    (sandbox.home / "settings.json").write_text("{}")
    assert sandbox.changed() == ()


def test_what_is_left_gone_or_changed_in_a_folder_is_named(sandbox: AgentSandbox) -> None:
    project, elsewhere, third = (sandbox.folder(label) for label in ("project", "elsewhere", "third"))
    (project / ".agent").mkdir()
    (project / ".agent" / "log").write_text("x")
    (elsewhere / "notes.txt").write_text("Nothing.\n")
    (third / "notes.txt").unlink()
    assert sandbox.changed() == ("elsewhere/notes.txt", "project/.agent", "project/.agent/log", "third/notes.txt")


def test_a_folder_goes_by_its_label_however_its_path_is_spelt(sandbox: AgentSandbox) -> None:
    project = sandbox.folder("project")
    (link := sandbox.home / "link").symlink_to(project)
    assert [sandbox.label_of(str(path)) for path in (project, link, f"{project}/", "/", "")] == [
        "project",
        "project",
        "project",
        "",
        "",
    ]


# -- damage


def file(sandbox: AgentSandbox, name: str, text: str = "0123456789") -> Path:
    path = sandbox.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_of_a_session_are_cut_in_half_and_no_others(sandbox: AgentSandbox) -> None:
    files = [
        file(sandbox, f"projects/a/{ONE}.jsonl"),
        file(sandbox, f"sessions/{ONE}/part.json"),
        file(sandbox, f"tmp/chat-{ONE[:8]}.json"),
    ]
    others = [file(sandbox, f"projects/a/{OTHER}.jsonl"), file(sandbox, "index.json")]
    assert sandbox.damage(ONE) == 3
    assert [path.read_text() for path in files] == ["01234"] * 3
    assert [path.read_text() for path in others] == ["0123456789"] * 2


def test_a_session_without_files_cannot_be_damaged(sandbox: AgentSandbox) -> None:
    file(sandbox, "index.json")
    assert sandbox.damage(ONE) == 0
