"""The reference adapter for the Gemini API and Gemini on Vertex AI, on the official SDK. `binding.BINDING` opens it.

Importing this package or its binding does not import the SDK; opening a provider does.
"""
