"""The conformance suites: requirements, profiles, scenarios, checks and mutants."""
