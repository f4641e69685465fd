"""From a transcript to a verdict: what a run shows, which requirements it meets, and what was found."""
