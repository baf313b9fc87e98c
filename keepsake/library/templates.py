"""The templates of prompts, compiled once in a process."""

from __future__ import annotations

from functools import lru_cache

from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.task_prompts import Templates, task_prompts


@lru_cache(maxsize=1)
def templates() -> Templates:
    """Return the shipped templates."""
    return task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG)
