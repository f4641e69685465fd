"""Whoever keeps sessions, opened by name for people: an agent, or a store of turnproof's own.

Both are asked in the same words, for `turnproof sessions`: what is there, what was said in it, and how to go on.
"""
