"""A mutation tool over the reference adapters, with the suite of requirements as the judge: `python -m tests.mutation`.

See `docs/add-a-mutant.md`.
"""
