"""What can be looked at in the answer of a library's call."""

from __future__ import annotations

import pytest

from turnproof.commands.reproduce.engine import _demand_chunks
from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.reproducer import LibraryCall


def test_an_answer_in_one_piece_has_no_chunks() -> None:
    with pytest.raises(UnreproducibleError, match="no chunks"):
        _demand_chunks(LibraryCall("m", (), wanted="chunks"))
    _demand_chunks(LibraryCall("m", (), wanted="chunks", streamed=True))
    _demand_chunks(LibraryCall("m", (), wanted="text"))
