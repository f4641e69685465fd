"""turnproof.cache"""
