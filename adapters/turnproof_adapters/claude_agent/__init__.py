"""Claude's command line program as an agent: it keeps the conversation, asks the model, and calls the tools itself.

The protocol, the program and how it is started are those of `claude_cli`; the messages are those of `anthropic`.
"""
