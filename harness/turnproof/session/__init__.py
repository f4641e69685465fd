"""turnproof.session"""
