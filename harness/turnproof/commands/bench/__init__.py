"""`turnproof bench`: what a turn costs on each path, in ratios and counts.

Every figure is taken inside one run: all that is compared is measured in the same process, round by round in shuffled
order, in CPU time, against a server in another process that answers at once. Milliseconds are shown, and never judged.
"""
