"""Bindings for well-known libraries that are not ours: controls of the suites. Each needs that library's extra."""
