"""The ``keepsake`` command in the process of the test: what a terminal would see, in no time."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from keepsake.cli.app import main

OURS = ("KEEPSAKE_", "OLLAMA_", "OPENAI_", "DJANGO_")
"""How the names begin of what must not come in from outside, or from another test."""


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def keepsake(environ: Mapping[str, str], *arguments: object) -> Ran:
    """Run a command with that environment, beside what is not Keepsake's of the present one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    out, err = io.StringIO(), io.StringIO()
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
    return Ran(code, out.getvalue(), err.getvalue())
