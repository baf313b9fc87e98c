"""Loaded by each Python of a bench's world: threads tell the system their names.

Python does so itself from 3.14 on. What a thread costs can then be read from ``/proc``.
"""

import ctypes
import sys
import threading

_PR_SET_NAME = 15
_C = ctypes.CDLL(None)  # opened once: what measures may not cost what it measures


def _name_this_thread() -> None:
    name = threading.current_thread().name.encode()[:15]
    _C.prctl(_PR_SET_NAME, name, 0, 0, 0)


def _named(bootstrap, thread):  # type: ignore[no-untyped-def]
    run = thread.run

    def run_named() -> None:
        _name_this_thread()
        run()

    thread.run = run_named
    bootstrap(thread)


if sys.platform == "linux" and sys.version_info < (3, 14):
    _bootstrap_inner = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    threading.Thread._bootstrap_inner = lambda thread: _named(_bootstrap_inner, thread)  # type: ignore[attr-defined]
