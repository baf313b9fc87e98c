"""Drops the texts that functions of the library remember in RAM."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import chain

from keepsake.erasure.traces import Traces

_LIBRARY = "keepsake."


class CacheCleaner:
    """Empties caches of texts. They are filled again at the next use.

    Args:
        others: Empty the caches that are no ``lru_cache`` of a module.
    """

    name = "caches in RAM"

    def __init__(self, *others: Callable[[], object]) -> None:
        self._others: Sequence[Callable[[], object]] = others

    def clean(self, _: Traces) -> None:
        """Empty every ``lru_cache`` with a limit, and the others.

        A cache without a limit holds things of which there is one, such as tables of words.
        """
        modules = [each for name, each in [*sys.modules.items()] if name.startswith(_LIBRARY)]
        for value in chain.from_iterable([*vars(module).values()] for module in modules):
            # By its type: Django's settings answer any name, if they are configured.
            if hasattr(type(value), "cache_clear") and value.cache_parameters()["maxsize"]:
                value.cache_clear()
        for empty in self._others:
            empty()
