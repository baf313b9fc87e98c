"""A world that runs for all tests of a module."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keepsake.paths import REPOSITORY
from tests.empty_tables import copy_tables
from tests.fakes.model_server import llm_page
from tests.slow.cli.conftest import Copy, end, make_copy

WITH_RULES = llm_page(
    agent="provider=ollama model=comma form=script time_limit=120",
    summarizer="provider=none time_limit=120",
)
"""``llm.md`` of agents that a :class:`tests.fakes.model_server.FakeModelServer` answers."""


def change(copy: Copy, name: str, old: str, new: str) -> None:
    """Replace a text in a configuration file."""
    path = copy.here.config / name
    text = path.read_text()
    assert old in text, (name, old)
    path.write_text(text.replace(old, new))


@contextmanager
def running(
    folder: Path,
    tables: Path,
    *,
    llm: str = "",
    changes: Iterable[tuple[str, str, str]] = (),
    **environ: str,
) -> Iterator[Copy]:
    """Start a copy, and end it afterwards.

    Args:
        folder: The parent folder of home and vault.
        tables: The file of Evennia's empty tables.
        llm: The text of ``llm.md``; empty for the shipped file.
        changes: Other changes of the configuration: file, text, replacement.
        environ: Additional environment variables.
    """
    made = make_copy(folder, **environ)
    shutil.copytree(REPOSITORY / "vault" / "config", made.here.config)
    copy_tables(tables, made.here)
    if llm:
        (made.here.config / "llm.md").write_text(llm)
    for each in changes:
        change(made, *each)
    try:
        started = made.keepsake("start")
        assert started.returncode == 0, started.stderr
        made.notes["first start"] = started.stdout
        yield made
    finally:
        end(made)
