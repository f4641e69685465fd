"""Recorded exchanges, one folder per adapter, one cassette per scenario."""
