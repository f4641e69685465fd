"""`turnproof bench --self`: what turnproof itself costs, beside the tools that do the same.

Each part measures its figures once a round, in turn with the others; a ratio's spread comes from quotients of the same
round. A tool that is not installed is left out, and named.
"""
