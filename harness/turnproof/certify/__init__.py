"""For tests of your own: what the fixtures of the pytest plugin give. `turnproof certify` is in `commands.certify`."""
