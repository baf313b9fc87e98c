"""Jinja templates of the vault: sandboxed, and checked when they are read.

Values are never templates: what a player says is data, whatever braces it holds.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from keepsake.errors import ConfigError

ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)


def read(path: Path) -> str:
    """The text of a file that holds a template.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cure = "Put it back from the committed vault, saved as UTF-8"
        raise ConfigError(path, 1, f"the template cannot be read ({error})", cure) from error


def compiled(
    path: Path, source: str, variables: Collection[str], *, above: int = 0
) -> jinja2.Template:
    """What Jinja makes of a template; ``above`` it stand so many lines of its file.

    Raises:
        ConfigError: It cannot be parsed, or names what is not among ``variables``.
    """
    if above:  # a comment as long as they are: Jinja's line numbers are then the file's
        source = "{#" + "\n" * (above - 1) + "#}\n" + source
    try:
        template, unknown = _compiled(source, frozenset(variables))
    except jinja2.TemplateError as error:
        raise failed(path, error) from error
    for name in unknown:
        cure = f"A template can use: {', '.join(sorted(variables))}"
        raise ConfigError(path, name.lineno, f"there is no variable {name.name!r}", cure)
    return template


@lru_cache(maxsize=32)  # both tiers, and the spare one, mostly have the same prompt
def _compiled(
    source: str, variables: frozenset[str]
) -> tuple[jinja2.Template, tuple[nodes.Name, ...]]:
    """The template, and where it names variables that there are none of."""
    tree = ENVIRONMENT.parse(source)
    unknown = meta.find_undeclared_variables(tree) - variables
    names = (name for name in tree.find_all(nodes.Name) if name.name in unknown)
    return ENVIRONMENT.from_string(source), tuple(names)


def failed(path: Path, error: BaseException) -> ConfigError:
    """The error for a template that cannot be parsed, or fails on its values."""
    # Jinja keeps the line of the template in the traceback, unless the error itself has it.
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == "<template>"]
    line = getattr(error, "lineno", None) or (lines or [1])[-1]
    reason = getattr(error, "message", None) or str(error) or type(error).__name__
    cure = "Mend the template, or put it back from the committed vault"
    return ConfigError(path, line, f"the prompt fails: {reason}", cure)
