"""Imports inflect, which Evennia needs for plurals, without having its types checked.

inflect asks typeguard to check every argument at run time. For that its code is taken
apart and compiled anew at each import: two seconds, in each of the four processes of a
first start. typeguard's own switch is Python's ``-O``, which is not ours to set, as it
would take every other check away as well.
"""

from __future__ import annotations

import contextlib


def import_inflect() -> None:
    """Import it now, unless it is there already; a later import finds it so."""
    with contextlib.suppress(ImportError):  # another version may do without typeguard
        import typeguard  # noqa: PLC0415 - no dependency of ours

        checking, typeguard.typechecked = typeguard.typechecked, lambda target: target
        try:
            import inflect  # noqa: F401, PLC0415 - so far it is Evennia's
        finally:
            typeguard.typechecked = checking
