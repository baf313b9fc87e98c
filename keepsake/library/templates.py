"""The templates of prompts, each compiled once in a process, when it is needed."""

from __future__ import annotations

from functools import lru_cache

from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.task_prompts import ShippedTemplates, Templates


@lru_cache(maxsize=1)
def templates() -> Templates:
    """Return the shipped templates."""
    return ShippedTemplates(SHIPPED_CONFIG)
