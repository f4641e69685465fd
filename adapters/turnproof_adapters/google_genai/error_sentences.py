"""Sentences of Google's services that say more than their status, as whole texts: known from recordings and reports."""

from __future__ import annotations

import re

TOO_LONG = (
    re.compile(
        r"The input token count(?: \((?P<requested>\d{1,15})\))? exceeds the maximum number of tokens allowed"
        r"(?: \(?(?P<limit>\d{1,15})\)?)?\.?"
    ),
    re.compile(
        r"Unable to submit request because the input token count is (?P<requested>\d{1,15})"
        r" but model only supports up to (?P<limit>\d{1,15})\..*",
        re.DOTALL,
    ),
)
"""What stands in a refusal of a prompt that does not fit, with the figures it gives."""
