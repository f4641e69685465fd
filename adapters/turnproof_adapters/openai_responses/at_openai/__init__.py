"""The adapter for the Responses API at OpenAI itself: stateless, or as a chain of responses that the service keeps."""
