"""Which versions of an SDK an adapter still works with, found by certifying it with them."""
