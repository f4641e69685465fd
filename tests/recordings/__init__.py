"""Recorded traffic of real services as the judge of the dialects."""
