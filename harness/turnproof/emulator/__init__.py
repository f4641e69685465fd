"""turnproof.emulator"""
