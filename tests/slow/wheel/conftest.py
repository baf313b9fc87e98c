import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _venv_goes(tmp_path: Path) -> Iterator[None]:
    """Delete nearly a gigabyte, which pytest would keep for three runs."""
    yield
    shutil.rmtree(tmp_path / "venv", ignore_errors=True)
