"""Tables of test cases, by name."""

from __future__ import annotations

from typing import Any

import yaml

from keepsake.paths import REPOSITORY


class _Loader(yaml.SafeLoader):
    """Reads YAML, and ``!joined ['so ', {x: 900}]`` as a text with 900 times x at its end."""


def _joined(loader: _Loader, node: yaml.SequenceNode) -> str:
    parts = loader.construct_sequence(node, deep=True)
    pairs = (part.items() if isinstance(part, dict) else [(part, 1)] for part in parts)
    return "".join(str(text) * times for each in pairs for text, times in each)


_Loader.add_constructor("!joined", _joined)
_TABLES = yaml.load((REPOSITORY / "tests" / "data" / "sentences.yaml").read_text("utf-8"), _Loader)


def table(name: str) -> list[Any]:
    """Return the rows of a table in ``tests/data/sentences.yaml``."""
    rows: list[Any] = _TABLES[name]
    return rows
