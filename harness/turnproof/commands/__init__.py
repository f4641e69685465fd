"""The commands: each one's engine in a package of its own, and `cli`, which reads the command line."""
