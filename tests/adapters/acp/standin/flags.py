"""What other agents do, or should not, by the flag that asks for it."""

from __future__ import annotations

import argparse


def flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--bare", action="store_true", help="advertise nothing, and do nothing of it")
    parser.add_argument("--no-system", action="store_true", help="read no system text")
    parser.add_argument("--resume-only", action="store_true", help="advertise session/resume, not session/load")
    parser.add_argument("--late", action="store_true", help="tell of a loaded session after the answer to the load")
    parser.add_argument("--stray", action="store_true", help="say something before anything was asked")
    parser.add_argument("--every-folder", action="store_true", help="list sessions of all folders whatever was asked")
    parser.add_argument("--page", type=int, default=50, help="sessions on a page")
    parser.add_argument("--die", type=int, help="end in the middle of this prompt, counted over all runs")
    parser.add_argument("--hang", type=int, help="never answer this prompt, nor heed a cancel of it")
    parser.add_argument("--garbage", action="store_true", help="write lines that are none of the protocol")
    parser.add_argument("--long", type=int, default=0, help="write a line of so many bytes before each answer")
    parser.add_argument("--silent", action="store_true", help="end every turn without a word, and say nothing of usage")
    parser.add_argument("--counts", action="store_true", help="tell how full the context is when a turn was silent")
    parser.add_argument("--repeat", action="store_true", help="tell thinking with each chunk of the answer")
    parser.add_argument("--retell", action="store_true", help="break off the first answer, and tell it anew")
    parser.add_argument("--off-by-one", action="store_true", help="answer a prompt after a cancel with nothing")
    parser.add_argument("--refuse", help="answer every prompt with this JSON-RPC error")
    parser.add_argument("--orphan", action="store_true", help="start a process in a session of its own")
    parser.add_argument("--deaf", action="store_true", help="stay when the input ends")
    parser.add_argument("--mute", action="store_true", help="answer nothing at all")
    return parser.parse_args()
