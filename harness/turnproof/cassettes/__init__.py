"""turnproof.cassettes"""
