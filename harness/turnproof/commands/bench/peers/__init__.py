"""Well-known libraries that take the same turns, measured in the same rounds as our own callers.

Their pins exclude each other: each has a virtual environment and a process of its own, which is told turn by turn what
to do and says what it took.
"""
