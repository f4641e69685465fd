"""What stands in for a provider's API: the emulator, recorded cassettes, and the controls that check both."""
