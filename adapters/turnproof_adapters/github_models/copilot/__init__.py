"""GitHub Copilot: two APIs of OpenAI's behind a session token of its own."""
