"""Where cassettes lie on disk, and how they get there and back.

`<root>/<adapter>/<scenario>.yaml`; an overlay for the legacy path beside it as `<scenario>.legacy.yaml`, holding only
the exchanges that differ there. Writing is all or nothing, and refuses to write a secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..._base.secrets import find_secret
from ..._base.whole_files import write_whole
from ...errors import CassetteError
from .codec import decode, encode
from .model import Cassette, how_to_record

SUFFIX = ".yaml"


def cassette_path(root: str | Path, adapter: str, scenario: str, *, overlay: str | None = None) -> Path:
    """The file of a scenario's cassette under `root`; with `overlay="legacy"` that of the overlay."""
    for name in (adapter, *scenario.split("/")):
        if not name or name.startswith(".") or "\\" in name or "/" in name:
            raise CassetteError(f"{name!r} in {adapter!r}/{scenario!r} cannot be a part of a cassette's path")
    suffix = f".{overlay}{SUFFIX}" if overlay else SUFFIX
    return Path(root, adapter, scenario + suffix)


def load(path: str | Path, *, remedy: str | None = None) -> Cassette:
    """The cassette in a file. Raises CassetteError with the file, the place and what to do about it.

    `remedy` is the command that records the cassette; by default it is read off the path.
    """
    path = Path(path)
    remedy = remedy or _remedy(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CassetteError(f"{path}: there is no such cassette. Record it: {remedy}") from error
    except OSError as error:
        raise CassetteError(f"{path}: the cassette cannot be read: {error.strerror}") from error
    return decode(data, file=str(path), remedy=remedy)


def _remedy(path: Path) -> str:
    """How to record the cassette at this path. A collection is a package, so its root shows by its `__init__.py`."""
    root = next((folder for folder in path.parents if (folder / "__init__.py").exists()), None)
    inner = path.relative_to(root).parts if root else path.parts
    adapter, *names = inner if root and len(inner) > 1 else ("ADAPTER", *path.parts)[-2:]
    return how_to_record(adapter, "/".join(names).removesuffix(SUFFIX).removesuffix(".legacy"))


def save(cassette: Cassette, path: str | Path, *, secrets: Iterable[str] = ()) -> None:
    """Write the cassette, making folders as needed; the file has the old content or the new, nothing between.

    Raises CassetteError, and writes nothing, if one of `secrets` stands anywhere in the text.
    """
    path = Path(path)
    data = encode(cassette)
    found = find_secret(data.decode(), secrets)
    if found:
        raise CassetteError(f"{path}: not written, the recording contains {'; '.join(found)}")
    write_whole(path, data)


def overlaid(base: Cassette, overlay: Cassette) -> Cassette:
    """`base` with the overlay's exchanges in place of those recorded at the same turn and round."""
    if (base.dialect, base.scenario) != (overlay.dialect, overlay.scenario):
        raise CassetteError(
            f"an overlay of {overlay.dialect} {overlay.scenario!r} does not fit "
            f"the cassette of {base.dialect} {base.scenario!r}"
        )
    replaced = {(item.place, item.stream, item.extra) for item in overlay.interactions}
    base_interactions = [item for item in base.interactions if (item.place, item.stream, item.extra) not in replaced]
    both = sorted([*base_interactions, *overlay.interactions], key=lambda item: item.place)
    return msgspec.structs.replace(base, interactions=tuple(both))
