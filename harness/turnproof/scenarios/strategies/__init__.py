"""Random scenarios, as hypothesis strategies; the one part of turnproof that needs the extra `explore`.

A strategy gives documents: the plain data that stands in a scenario file. So what was found at random is a file that
anybody can read, change and run, and the loader's own rules say whether it makes sense. `scenarios` gives them loaded.

    from hypothesis import given
    from turnproof.scenarios.strategies import Means, scenarios

    @given(scenarios(Means(Capabilities(streaming=True, tools=True))))
    def test_my_parser_reads_every_scenario(scenario: Scenario) -> None: ...

`Means` limits what happens in them to what a subject claims and its session can do. Simple things come first in every
choice, so that hypothesis shrinks towards one turn with a short text.
"""

from ._documents import documents, scenarios
from ._weights import Means

__all__ = ["Means", "documents", "scenarios"]
