"""A mutation tool over the reference adapters, with the suite of requirements as the judge: `python -m mutation`.

See `docs/mutation.md`.
"""
