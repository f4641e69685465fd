"""Right adapters, and who says that they are right."""
