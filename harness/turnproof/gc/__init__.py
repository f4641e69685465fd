"""turnproof.gc"""
