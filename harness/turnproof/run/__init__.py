"""From a scenario to a transcript: subjects are opened and driven, and what happens on both sides is recorded."""
