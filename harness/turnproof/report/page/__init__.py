"""`index.html`, the page of a run: the verdict, the matrix, every requirement with its evidence, and what lies beside.

It is one file that reads as a whole without its script, and that its script makes easier to search.
"""

from __future__ import annotations

from .index import index_html

__all__ = ["index_html"]
