"""Google's Interactions API, with the official SDK `google-genai`: stateless, or as a chain that the service keeps.

A member of the family of `openai_responses`, which arranges conversations of items in the same way.
"""
