"""Adapters that are right in an unusual way, and what makes them so."""
