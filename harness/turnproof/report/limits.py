"""How much reports show: of a longer text or list the rest is counted, or stands in another file."""

from __future__ import annotations

# The page

OPEN_REQUIREMENTS = 3
"""Requirements that are not held and are open from the start; where there are more, all are folded."""

HEADLINE_FAILURES = 8
"""Failures of a kind that the front page names; the rest stands below."""

HEADLINE_NAMES = 4
"""Names that a sentence can carry."""

REQUIREMENT_EXAMPLES = 3
"""Examples that a requirement's page gives of a kind, and names of adapters that a sentence on it lists."""

OCCURRENCES_OF_A_KIND = 20
"""Occurrences of a kind that are shown with their documents. The others are listed by their places."""

OCCURRENCES_OF_A_PAGE = 500
"""Occurrences that one page shows so: more would make it heavy. Of each kind the first one always is."""

SCENES_OF_A_PAGE = 60
"""Times that one page tells a run: more would make it heavy, and nobody reads them. The rest is named and linked."""

SCENES_OF_A_CASE = 3
"""Runs that are told for one case: those that its kinds of findings were made in first."""

TRANSCRIPTS_IN_MEMORY = 24
"""Transcripts that are held at a time."""

REQUEST_CONTEXT_LINES = 3
"""Lines that are shown around a line that differs."""

REQUEST_LINES = 1500
"""Lines of a body; of a longer one the end is shown, where the new messages are."""

REQUEST_LINES_READ = 100_000
"""Lines of a body that are read at all."""

REQUEST_VALUE_CHARACTERS = 400
"""Characters of one value that a request lacks."""

JSON_TEXT_CHARACTERS = 400
"""Characters that are shown of a text."""

JSON_NEIGHBOUR_CHARACTERS = 110
"""Characters that are shown of what stands beside the place."""

JSON_NEIGHBOURS = 2
"""Items that are shown on either side of the place."""

JSON_LINES = 16
"""Lines that are shown of the place itself."""

JSON_ITEMS = 400
"""Items of a list or an object that are shown, the last of them."""

JSON_DEPTH = 100
"""Levels of nesting that are shown."""

RAW_BYTES = 2400
"""Bytes of a body that is shown whole."""

RAW_BYTES_BEFORE = 600
"""Bytes that are shown in front of the place, of a longer one."""

BRIEF_LINES = 12
"""Sentences of a kind that an adapter's page of one screen shows; the rest is folded."""

COVERAGE_FIELDS = 12
"""Fields and rules that a coverage names without being asked for all."""

HISTORY_NAMES = 6
"""Requirements that a line of a history names."""

HISTORY_RUNS = 30
"""Runs that a badge over time shows, the newest of them."""

COLOURED_CHARACTERS = 100_000
"""Characters that are coloured; colours are of no help in a longer text."""

PLOT_BYTES = 2_000_000
"""Bytes of a plot that the page takes in."""

PLOT_NAME_CHARACTERS = 300
"""Characters of a file name that stand for a plot without a title."""

# Text

DIFF_VALUE_CHARACTERS = 240
"""Characters of one value or reason."""

DIFF_LINES = 40
"""Lines of a kind of change that are told without being asked for; the rest is counted."""

DIFF_FINDINGS = 3
"""Findings of each list that are told without being asked for."""

DIFF_PAGE_FINDINGS = 20
"""Findings of each list that a page tells; diff.json has all of them."""

COMMENT_CHARACTERS = 60_000
"""Characters of the whole comment: GitHub refuses one of more than 65,536."""

COMMENT_OPEN_ITEMS = 5
"""Items that stand open; a list with more is folded behind a summary."""

COMMENT_FINDINGS = 3
"""Findings that an item tells of each list."""

COMMENT_VALUE_CHARACTERS = 400
"""Characters of one value."""

COMMENT_SECTION_CHARACTERS = 300
"""Characters that are left for what stands around the items of a section."""
