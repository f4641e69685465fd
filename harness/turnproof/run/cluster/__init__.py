"""Runs on a cluster of `dask.distributed`: the same runs as in the worker processes of this machine, made elsewhere.

What travels to a cluster is a job by name, as JSON. On the cluster's worker a process of our own makes the run, with
the emulator and the subject's worker process beside each other, and puts the transcript into a folder that all
machines share. Through the scheduler goes where that is, and its digest.
"""
