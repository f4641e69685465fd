"""Writes the table of models from the files in this folder; with `--refresh` reads the published windows again first.

`nox -s models` runs it, and has `genai-prices` installed for `--refresh`.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent
PUBLISHED = SOURCES / "published.json"
TABLE = SOURCES.parent / "harness" / "turnproof" / "dialects" / "models.json"

PROVIDERS = {
    "anthropic_messages": "anthropic",
    "gemini": "google",
    "gemini_interactions": "google",
    "openai_chat": "openai",
    "openai_responses": "openai",
    "zai": "zai",
}
"""Whose published windows count for a dialect. A gateway and a local server have windows of their own."""


class SourceError(Exception):
    """The sources contradict each other, or one is incomplete."""


def own_facts() -> dict[str, dict[str, Any]]:
    """Our own facts: the parsed file of each dialect."""
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(SOURCES.glob("*.toml"))}


def build() -> str:
    """The text of the table: a head, and one row on each line. Raises SourceError."""
    published = json.loads(PUBLISHED.read_text("utf-8"))
    rows = []
    for dialect, facts in own_facts().items():
        windows = published["windows"].get(PROVIDERS.get(dialect, ""), {})
        rows += [_row(dialect, facts["date"], model, windows, published) for model in facts["model"]]
    lines = ",\n".join(json.dumps(row) for row in rows)
    days = [published["date"], *(facts["date"] for facts in own_facts().values())]
    head = {"note": "Written by `nox -s models` from models/. Do not edit.", "date": max(days)}
    return json.dumps(head)[:-1] + f', "models": [\n{lines}\n]}}\n'


def _row(
    dialect: str, date: str, model: dict[str, Any], windows: dict[str, int], published: dict[str, Any]
) -> dict[str, Any]:
    names = [name for name in (model["id"], model.get("alias")) if name]
    window = next((windows[name] for name in names if name in windows), None)
    context, because = model.get("context"), model.get("because")
    place = f"{dialect}.toml, {model['id']}"
    if context is None and window is None:
        raise SourceError(f"{place}: no window is published; give `context`")
    if context is not None and window == context:
        raise SourceError(f"{place}: {context} is the published window; leave `context` out")
    if context is not None and window is not None and not because:
        raise SourceError(f"{place}: `context` is {context}, published is {window}; say why in `because`")
    row = {"dialect": dialect, **{key: value for key, value in model.items() if key != "because"}}
    row["context"] = window if context is None else context
    row["facts"] = f"models/{dialect}.toml, {date}"
    row["window"] = row["facts"] if context else f"{published['package']} {published['version']}, {published['date']}"
    return row


def published_windows() -> dict[str, Any]:
    """What the installed `genai-prices` publishes for our models, by provider and name."""
    from importlib.metadata import version

    from genai_prices.data import providers

    known = {provider.id: provider for provider in providers}
    windows: dict[str, dict[str, int]] = {}
    for dialect, facts in own_facts().items():
        if (provider := PROVIDERS.get(dialect)) is None:
            continue
        for name in (name for model in facts["model"] for name in (model["id"], model.get("alias")) if name):
            found = known[provider].find_model(name)
            if found is not None and found.context_window:
                windows.setdefault(provider, {})[name] = found.context_window
    return {
        "package": "genai-prices",
        "version": version("genai-prices"),
        "windows": {provider: dict(sorted(found.items())) for provider, found in sorted(windows.items())},
    }


def main(words: list[str]) -> int:
    """Refresh if asked, and write the table."""
    if words == ["--refresh"]:
        from datetime import UTC, datetime

        found = published_windows() | {"date": datetime.now(UTC).date().isoformat()}
        PUBLISHED.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", "utf-8")
    elif words:
        print("usage: build.py [--refresh]", file=sys.stderr)
        return 2
    try:
        TABLE.write_text(build(), "utf-8")
    except SourceError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
