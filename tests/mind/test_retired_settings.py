"""Files of an earlier version, which set what nobody can set any more."""

from pathlib import Path

import pytest

from game.cli.checks.vault import LOADERS
from keepsake.errors import ConfigError
from keepsake.markdown_config import RETIRED
from keepsake.paths import REPOSITORY

SHIPPED = REPOSITORY / "vault" / "config"


@pytest.mark.parametrize("name", RETIRED)
def test_such_a_file_opens_with_a_note(tmp_path: Path, caplog, name: str):
    path = tmp_path / name
    shipped = (SHIPPED / name).read_text("utf-8")
    (tmp_path / "compaction").symlink_to(SHIPPED / "compaction")
    old = "".join(f"\n**{key}**: whatever it was\n" for key in sorted(RETIRED[name]))
    path.write_text(shipped + old, "utf-8")
    assert LOADERS[name](path) == LOADERS[name](SHIPPED / name)
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith(f"[Note] {path}: {min(RETIRED[name])}")
    assert "can be removed" in line


@pytest.mark.parametrize("name", RETIRED)
def test_what_was_never_known_is_refused_still(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text("**no_such_key**: 1\n", "utf-8")
    with pytest.raises(ConfigError, match="nothing reads no_such_key") as refused:
        LOADERS[name](path)
    assert not RETIRED[name] & {*refused.value.cure.removeprefix("Known: ").split(", ")}
