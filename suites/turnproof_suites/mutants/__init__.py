"""Adapters, sessions and agents broken on purpose: the proof that the suite's checks see what they are there for.

Each mutant breaks one thing at one seam (what an adapter is given, what it returns, what it calls back, what goes over
the wire, or what a session or an agent does) and names the requirement that has to notice. They wrap any adapter, any
session or any agent, or stand as a rewriting proxy in front of the server, so that they break every provider's adapter
alike. What they are made of is exported for mutants of other people's.
"""

from __future__ import annotations

from turnproof.run.driver.mutation import Mutant

from . import (
    agent_lists,
    agent_remains,
    agent_sessions,
    agent_turns,
    background,
    background_answers,
    caching,
    cancelled,
    chains,
    children,
    children_beside,
    connections,
    context,
    core_inputs,
    core_outputs,
    direct_calls,
    enrichment,
    failures,
    handoff,
    media,
    memory,
    operations,
    other_words,
    paths,
    schemas,
    secrets,
    sessions,
    settings,
    spans,
    streaming,
    structured,
    thinking,
    tidying,
    tools_incoming,
    tools_names,
    tools_outgoing,
    usage_figures,
    watching,
    windows,
)
from ._agent import BrokenAgent
from ._broken import Broken, BrokenCount, CallInputs, Proceed
from ._mutant import mutant
from ._rewriting import Rewriting
from ._session import BrokenSession
from ._spans import BrokenSpans
from ._wire import Wire

__all__ = [
    "MUTANTS",
    "Broken",
    "BrokenAgent",
    "BrokenCount",
    "BrokenSession",
    "BrokenSpans",
    "CallInputs",
    "Proceed",
    "Rewriting",
    "Wire",
    "mutant",
]

_AREAS = (
    core_inputs,
    core_outputs,
    connections,
    streaming,
    tools_outgoing,
    tools_incoming,
    tools_names,
    cancelled,
    failures,
    usage_figures,
    caching,
    thinking,
    structured,
    media,
    handoff,
    memory,
    paths,
    secrets,
    sessions,
    windows,
    operations,
    other_words,
    children,
    children_beside,
    background,
    enrichment,
    watching,
    context,
    spans,
    agent_sessions,
    agent_lists,
    agent_turns,
    agent_remains,
    direct_calls,
    schemas,
    settings,
    chains,
    background_answers,
    tidying,
)

MUTANTS: tuple[Mutant, ...] = tuple(
    found for area in _AREAS for found in vars(area).values() if isinstance(found, Mutant)
)
"""Every mutant of this suite, area by area."""
