"""A scenario's data as the text of its file: what `load` reads back as the same data, laid out for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import yaml

from ._document import scalar

_WIDTH: Final = 100
_PLAIN: Final = re.compile(r"[A-Za-zÀ-ɏ][\wÀ-ɏ .,!?/_-]*(?<! )", re.ASCII)


def to_yaml(document: dict[str, Any], comments: Iterable[str] = ()) -> str:
    """The text of a scenario file. Each comment becomes a line in front of it; control characters in it become blanks.

    What is short stands on one line; any text that is not plain words is quoted, with escapes for what cannot be seen.
    """
    head = "".join(f"# {_printable(comment)}\n" for comment in comments)
    text: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**9)
    return head + text


class _Dumper(yaml.SafeDumper):
    """Flow style for what is short, block style for the rest; no anchors, which scenario files may not have."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_list(self, data: Any) -> yaml.SequenceNode:
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=_is_short(data))

    def represent_dict(self, data: Any) -> yaml.MappingNode:
        return self.represent_mapping("tag:yaml.org,2002:map", data, flow_style=bool(data) and _is_short(data))

    def represent_str(self, data: str) -> yaml.ScalarNode:
        plain = _PLAIN.fullmatch(data) is not None and isinstance(scalar(data), str)
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain else '"')


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(dict, _Dumper.represent_dict)
_Dumper.add_representer(str, _Dumper.represent_str)


def _is_short(value: Any) -> bool:
    return len(json.dumps(value, ensure_ascii=False)) <= _WIDTH


def _printable(comment: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in comment).split())
