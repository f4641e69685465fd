"""A small agent framework that is not ours, at twelve stages of its migration: what the gates are measured on.

It sends what it wants by a client of its own, keeps conversations as the dicts of its API, counts tokens in the
background after each answer, and lists its tools in another order than they were given.
"""
