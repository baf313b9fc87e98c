"""The folders of a copy, its configuration and its lock."""

import pytest

from keepsake.cli import home
from keepsake.errors import KeepsakeError
from keepsake.paths import places


def here_in(tmp_path):
    return places(
        {"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
    )


def test_a_vault_gets_the_shipped_configuration_and_what_somebody_wrote_stays(tmp_path):
    here = here_in(tmp_path)
    here.config.mkdir(parents=True)
    mine = here.config / "memory_compaction.md"
    mine.write_text("**immediate_window**: 5\n")
    home.prepare(here)
    shipped = {path.name: path.read_text() for path in home.SHIPPED_CONFIG.glob("*.md")}
    there = {path.name: path.read_text() for path in here.config.glob("*.md")}
    assert there == shipped | {mine.name: "**immediate_window**: 5\n"}


@pytest.mark.parametrize(
    ("folder", "variable"), [("home", "KEEPSAKE_HOME"), ("vault", "KEEPSAKE_VAULT")]
)
def test_a_folder_that_cannot_be_made_names_its_variable(tmp_path, folder, variable):
    (tmp_path / folder).touch()
    with pytest.raises(KeepsakeError, match=variable):
        home.prepare(here_in(tmp_path))


def test_a_disk_that_fills_up_leaves_no_half_a_file(tmp_path, monkeypatch):
    here = here_in(tmp_path)

    def half(source, target):
        target.write_bytes(source.read_bytes()[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(home.shutil, "copyfile", half)
        with pytest.raises(KeepsakeError, match=r"No space left on device.*Free some"):
            home.prepare(here)
    home.prepare(here)
    for shipped in home.SHIPPED_CONFIG.glob("*.md"):
        assert (here.config / shipped.name).read_bytes() == shipped.read_bytes()


def test_only_one_command_works_on_a_home(tmp_path):
    here = here_in(tmp_path)
    with (
        home.alone(here),
        pytest.raises(KeepsakeError, match="Another keepsake command"),
        home.alone(here),
    ):
        pass
    with home.alone(here):
        pass
