"""What the system lets a process have."""

from __future__ import annotations


def allow_connections(wanted: int) -> None:
    """Let this process have so many open files, if the system allows it. Each session has a connection."""
    try:
        import resource
    except ImportError:  # not on every system, and the limit is not either
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
