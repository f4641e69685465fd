"""turnproof.scenarios"""
