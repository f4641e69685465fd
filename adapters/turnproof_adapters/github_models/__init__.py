"""The reference adapter for GitHub's models, by both of its ways. Its `binding` opens them.

GitHub Models is asked through the official SDK `azure-ai-inference`; Copilot (`copilot`), chat and responses, through
the official SDK of the API that it speaks, `openai`. Importing this package or its binding imports neither.
"""
