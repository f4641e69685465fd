"""An adapter with a name that is markup, which makes the model's text safe for a web page and loses error flags."""

from __future__ import annotations

from dataclasses import replace

from turnproof.run.bindings import resolve_subject
from turnproof.run.driver.mutation import mutated

_BROKEN = mutated(mutated(resolve_subject("anthropic"), "text-escaped-for-html"), "error-flag-lost").adapter

BINDING = replace(_BROKEN, name='<img src=x onerror="window.__injected=1">')
