"""turnproof.commands.certify"""
