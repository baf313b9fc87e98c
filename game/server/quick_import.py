"""Imports inflect, which Evennia needs for plurals, two seconds sooner."""

from __future__ import annotations

import contextlib


def import_inflect() -> None:
    """Import inflect without typeguard, which compiles its code anew at each import."""
    with contextlib.suppress(ImportError):  # another version may do without typeguard
        import typeguard  # noqa: PLC0415 - no dependency of ours

        checking, typeguard.typechecked = typeguard.typechecked, lambda target: target
        try:
            import inflect  # noqa: F401, PLC0415 - so far it is Evennia's
        finally:
            typeguard.typechecked = checking
