"""The tables of sentences that tests go through, by name."""

from __future__ import annotations

from typing import Any

import yaml

from keepsake.paths import REPOSITORY

_TABLES = yaml.safe_load((REPOSITORY / "tests" / "data" / "sentences.yaml").read_text("utf-8"))


def table(name: str) -> list[Any]:
    """The rows of a table in ``tests/data/sentences.yaml``, for ``pytest.mark.parametrize``."""
    rows: list[Any] = _TABLES[name]
    return rows
