"""What adapters for the Responses API share, whoever serves it: requests, answers, streams and errors of both paths.

A service's own package opens the client and says how its requests are sent; it subclasses `ResponsesStateless` and
`ResponsesLegacy`. Importing this package does not import the SDK.
"""
