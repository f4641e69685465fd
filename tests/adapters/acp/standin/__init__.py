"""What an agent over the Agent Client Protocol does for the adapter, as a small script.

It follows `@agentclientprotocol/claude-agent-acp` 0.49.0 as it was seen: the same updates, in the same order, and the
same requests to the model. Its sessions are files below HOME. Flags make it do what other agents do, or should not.
It is run by the path of this folder, and needs nothing but Python.
"""

VERSION = "2.1.185"
"""What it says that it is."""
