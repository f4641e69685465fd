"""Runs llama.cpp's HTTP server, out of the wheel `xllamacpp`, until it is ended.

`python -m tests.live.model_server MODEL --port N [--seed N]` writes `ready` when it answers. With `--seed` it draws the
same words for the same prompt, without one it draws anew as every provider does.
"""

from __future__ import annotations

import argparse
import signal
import threading

import xllamacpp


def serve(model: str, port: int, seed: int | None, context: int, slots: int) -> None:
    """Serve the model on loopback until SIGTERM or SIGINT."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = ["made-up"]
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = slots
    params.n_ctx = context * slots
    params.use_jinja = True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.n_gpu_layers = 0
    params.cache_ram_mib = 0
    params.endpoint_slots = True
    if seed is not None:
        params.sampling.seed = seed
    over = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: over.set())
    server = xllamacpp.Server(params)
    print("ready", server.listening_address, flush=True)
    over.wait()


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Serve a model with llama.cpp's own server.")
    words.add_argument("model")
    words.add_argument("--port", type=int, required=True)
    words.add_argument("--seed", type=int)
    words.add_argument("--context", type=int, default=8192)
    words.add_argument("--slots", type=int, default=4)
    options = words.parse_args()
    serve(options.model, options.port, options.seed, options.context, options.slots)
