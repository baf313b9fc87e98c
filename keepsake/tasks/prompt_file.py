"""The template of a task: a markdown file whose fenced blocks are its prompts.

A builder may edit the file while the game runs. Everything outside the fences is documentation.
The word behind a fence names the part: ```` ```system ````, ```` ```turn ````. Values are never
templates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from keepsake import templates
from keepsake.errors import ConfigError

_FENCE = re.compile(r"^(?P<mark>```|~~~)(?P<part>\w+)\n(?P<body>.*?)^(?P=mark)[^\n]*$", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The parts of one template."""

    path: Path
    parts: Mapping[str, jinja2.Template]

    def render(self, part: str, **values: Any) -> str:
        """One part with its values, without blank space at both ends.

        Raises:
            ConfigError: The template fails on these values.
        """
        try:
            return self.parts[part].render(values).strip()
        except Exception as error:  # a template can raise whatever its expressions raise
            raise templates.failed(self.path, error) from error


def load_prompts(path: Path, parts: Collection[str], variables: Collection[str]) -> Prompts:
    """Read and check a template.

    Args:
        path: The file.
        parts: The parts that it must have; others are refused.
        variables: The names that it may use.

    Raises:
        ConfigError: It cannot be read or parsed, lacks a part, or names an unknown variable.
    """
    source = templates.read(path)
    found: dict[str, jinja2.Template] = {}
    for fence in _FENCE.finditer(source):
        part, line = fence["part"], source.count("\n", 0, fence.start()) + 1
        if part not in parts or part in found:
            cure = f"The parts of this file are: {', '.join(parts)}, once each"
            raise ConfigError(path, line, f"the part {part!r} is not expected here", cure)
        found[part] = templates.compiled(path, fence["body"], variables, above=line)
    if missing := [part for part in parts if part not in found]:
        cure = f"Write it between ```{missing[0]} and ```"
        raise ConfigError(path, 1, f"the part {missing[0]!r} is missing", cure)
    return Prompts(path, found)
