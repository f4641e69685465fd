"""The folder that the command runs in, which modules are found from and files are named by.

A worker process has another working directory, so it is given this one.
"""

from __future__ import annotations

from pathlib import Path

_folder = ""


def project_folder() -> str:
    """The command's folder, in a worker as well; empty where the current one was removed."""
    if _folder:
        return _folder
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def set_project_folder(folder: str) -> None:
    """From now on this process's project is there, wherever the process works."""
    global _folder
    _folder = folder
