"""What a certificate proves, in the words that every report has."""

NOT_PROVEN = (
    "What this proves: the verdicts follow from the transcripts beside them, and none is missing (turnproof verify). "
    "What it does not prove: that the transcripts come from the named adapter and version, when and where they "
    "were made, and what cassettes were recorded from. For that you trust its author."
)
