"""Recorded traffic of real services, made into scenarios with the real answers (`turnproof import`)."""
