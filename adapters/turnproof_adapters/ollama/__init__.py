"""The reference adapter for Ollama's Anthropic-compatible endpoint, on Anthropic's SDK. `binding.BINDING` opens it.

It is the adapter of `turnproof_adapters.anthropic` for another service: a server of one's own, which needs no key,
signs no thinking, reports no cache, and knows itself what its models can do.

A prompt that is longer than the server's window is no error here: the server drops its oldest messages and answers. Who
owns the history has to keep it below `get_context_limit()`.
"""
