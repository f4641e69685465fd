"""turnproof.bench"""
