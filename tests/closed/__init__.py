"""The reference session, bound as a framework's own: it opens its provider itself, and shows nothing of it."""
