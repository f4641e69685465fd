"""The reference adapter for Anthropic's Messages API, on the official SDK. `binding.BINDING` opens it.

Importing this package or its binding does not import the SDK; opening a provider does. Adapters for other services that
speak this API are made of its paths: `service.Service` says in what such a service differs.
"""
