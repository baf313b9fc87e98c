"""Runs the ``keepsake`` command in the process of the test, which saves the start of another."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from keepsake.cli.app import main

OWN_PREFIXES = ("KEEPSAKE_", "OLLAMA_", "OPENAI_", "DJANGO_")
"""Prefixes of environment variables that must not leak in from outside or from another test."""


@dataclass(frozen=True)
class CommandResult:
    """The exit code of a command and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def keepsake(environ: Mapping[str, str], *arguments: object) -> CommandResult:
    """Run a command with ``environ`` and those present variables that are not Keepsake's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_PREFIXES)}
    out = io.StringIO()
    err = io.StringIO()
    code = 0
    with (
        patch.dict(os.environ, {**kept, **environ}, clear=True),
        patch.object(sys, "argv", ["keepsake", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return CommandResult(code, out.getvalue(), err.getvalue())
