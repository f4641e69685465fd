"""The newest profile: certification asks for the requirements that it names, so a new one is added to it.

`python -m tests.suites.profile --write` adds the ids of the catalogue that it lacks, under their profiles. It takes
none away, and leaves released profiles alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import turnproof_suites
from turnproof.judge.requirements import load_suite

FOLDER = Path(next(iter(turnproof_suites.__path__))) / "profiles"


def missing() -> dict[str, list[str]]:
    """The ids of the catalogue that the newest profile lacks, by profile."""
    suite = load_suite()
    found: dict[str, list[str]] = {}
    for requirement in suite.catalogue:
        if requirement.id not in suite.profiles.ids:
            found.setdefault(requirement.profile, []).append(requirement.id)
    return found


def extended(text: str, added: dict[str, list[str]]) -> str:
    """The text of a profile file with these ids at the end of their lists; a profile that is new comes last."""
    for profile, ids in added.items():
        lines = "".join(f'    "{each}",\n' for each in ids)
        before, head, rest = text.partition(f"\n{profile} = [\n")
        if head:
            inside, end, after = rest.partition("]\n")
            text = before + head + inside + lines + end + after
        else:
            text += f"{profile} = [\n{lines}]\n"
    return text


def main(*, write: bool) -> None:
    """Say what the newest profile lacks, and add it if asked to."""
    file, added = FOLDER / f"{load_suite().profiles.name}.toml", missing()
    if write:
        file.write_text(extended(file.read_text("utf-8"), added), "utf-8")
    print(f"{file.name}: {sum(map(len, added.values()))} {'added' if write else 'missing'}")


if __name__ == "__main__":
    main(write="--write" in sys.argv)
