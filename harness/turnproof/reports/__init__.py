"""turnproof.reports"""
