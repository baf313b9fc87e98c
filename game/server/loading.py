"""Makes the processes of a world load their code sooner."""

from __future__ import annotations

import contextlib
import gc
import sys
from pathlib import Path


def begin() -> None:
    """In the Portal and the Server: nothing that is loaded is garbage, so look for none."""
    if Path(sys.argv[0]).name == "twistd":
        gc.disable()


def end() -> None:
    """All is loaded and stays, so it is never looked through: that would take 0.1 s each time."""
    gc.freeze()
    gc.enable()


def import_inflect() -> None:
    """Import inflect, which Evennia needs for plurals, without having its types checked.

    It asks typeguard to check every argument at run time. For that its code is taken apart and
    compiled anew at each import: two seconds. typeguard's own switch is Python's ``-O``, which is
    not ours to set, as it would take every other check away as well.
    """
    with contextlib.suppress(ImportError):  # another version may do without typeguard
        import typeguard  # noqa: PLC0415 - no dependency of ours

        checking, typeguard.typechecked = typeguard.typechecked, lambda target: target
        try:
            import inflect  # noqa: F401, PLC0415 - so far it is Evennia's
        finally:
            typeguard.typechecked = checking
