"""The reference adapter for OpenAI's chat completions API, on the official SDK. `binding.BINDING` opens it.

It serves every endpoint that speaks the API: the address is free. Importing this package or its binding does not import
the SDK; opening a provider does. Adapters of other services that speak the same API build their requests and read their
answers with the modules here that know no SDK: everything but `client`, `calling`, `lifecycle` and the two paths.
"""
