"""Agent programs that speak the Agent Client Protocol (JSON-RPC over stdin and stdout), as agents of turnproof.

`AcpAgent` is all that they have in common; a `Program` is what there is to know of one of them. The package `acp` is
the protocol's own, `agent-client-protocol` on PyPI (extra `agents`).
"""
