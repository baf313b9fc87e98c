"""Tables of test cases, by name."""

from __future__ import annotations

from typing import Any

import yaml

from keepsake.paths import REPOSITORY

_TABLES = yaml.safe_load((REPOSITORY / "tests" / "data" / "sentences.yaml").read_text("utf-8"))


def table(name: str) -> list[Any]:
    """Return the rows of a table in ``tests/data/sentences.yaml``."""
    rows: list[Any] = _TABLES[name]
    return rows
