"""Certifies adapters against a real model server, llama.cpp's own, that runs on this machine (`nox -s live`)."""
