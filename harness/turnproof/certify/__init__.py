"""turnproof.certify"""
