"""Claude's command line program as a provider, reached over its `stream-json` protocol.

One model turn is asked for at a time, and calls are handed back: the program runs no tool. It asks Anthropic's Messages
API by itself, so that messages, blocks, stream events and models are those of the `anthropic` package.
"""
