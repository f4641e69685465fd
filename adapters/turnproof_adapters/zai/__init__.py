"""The reference adapter for Z.ai's Anthropic-compatible endpoint, on Anthropic's SDK. `binding.BINDING` opens it.

It is the adapter of `turnproof_adapters.anthropic` for another service. The service caches prompts by itself, gives the
truth about usage at the end of a stream only, tells errors in three forms, some of them under status 200, and may write
a call's arguments as a string of JSON.
"""
