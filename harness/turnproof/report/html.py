"""What all pages share: how they are made from their templates, and the ids of places on them.

A page is one file. It fetches nothing and can be mailed; what is put into it is escaped, and made printable.
"""

from __future__ import annotations

import hashlib
import re
import sys
from base64 import b64encode
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined, Template
from jinja2.bccache import Bucket

from .._base.counts import counted
from ._inline_text import LOOKS, file_name, printable
from .kill_matrix_image import CELL

_CLAIMED = {"emulate": "emulated", "replay": "replayed"}
"""How far the proof of a backend goes, where a document names the backend alone."""

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")


@cache
def template(name: str) -> Template:
    """One of the templates of this package."""
    return _environment().get_template(name)


@cache
def source(name: str) -> str:
    """The text of a style sheet or a script of this package, as it stands on a page."""
    loader = _environment().loader
    assert loader is not None
    return "\n" + loader.get_source(_environment(), name)[0]


def content_policy(style: str, script: str = "") -> str:
    """The content security policy of a page that loads nothing but pictures in itself, and runs only this script."""
    runs = f" script-src {_policy_hash(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_policy_hash(style)};{runs} img-src data:; base-uri 'none'; form-action 'none'"
    )


def _policy_hash(text: str) -> str:
    """What a content security policy calls an inline style sheet or script with this text."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def anchor(*words: str) -> str:
    """An id for a place on a page: the same words give the same id, and any words a legal one.

    Words that are plain stand in it as they are, so that a link says where it leads: `anthropic/tools/names-are-legal`.
    """
    path = "/".join(words)
    if all(map(_PLAIN.fullmatch, words[:-1])) and _PLAIN_PATH.fullmatch(words[-1]):
        return path
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return re.sub(r"[^A-Za-z0-9._/-]+", "-", path).strip("-")[:60] + "~" + digest


def brief_file(name: str) -> str:
    """The name of the page of one screen of an adapter."""
    return f"brief-{file_name(name)}.html"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("turnproof.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
        bytecode_cache=_compiled_templates(Path(cache_from_source(__file__)).parent),
    )
    environment.filters["claimed"] = lambda backend: _CLAIMED.get(backend, backend)
    environment.globals.update(looks=LOOKS, anchor=anchor, cell=CELL, counted=counted)
    return environment


class _CompiledTemplates(FileSystemBytecodeCache):
    """Templates that are compiled once for all commands, and in each where a file cannot be written."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates(folder: Path) -> FileSystemBytecodeCache | None:
    """Compiled templates in this folder, where Python has the code of modules; None where it writes none."""
    return None if sys.dont_write_bytecode else _CompiledTemplates(str(folder), "%s.j2")


def _printable(value: object) -> object:
    # Only plain text: what jinja has escaped already is a str too, but a Markup, and has no control characters left.
    return printable(value) if type(value) is str else value
