"""Reference adapters, one package per provider; each has both paths and a binding."""
