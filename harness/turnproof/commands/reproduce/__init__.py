"""`turnproof reproduce`: a finding as one file that shows it with the library alone."""
