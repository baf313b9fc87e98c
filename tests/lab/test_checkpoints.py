"""Checkpoints: whole or not there, and what they are gone back to is what was."""

import shutil

import pytest

from game.lab.simulations import checkpoints
from game.lab.simulations.plan import Lab
from keepsake.errors import KeepsakeError


def contents(lab):
    return {
        str(path.relative_to(lab.folder)): path.read_text()
        for top in ("home", "vault")
        for path in sorted((lab.folder / top).rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def lab(tmp_path):
    made = Lab(tmp_path / "life")
    for name, text in {
        "home/evennia.db3": "rows",
        "home/logs/events/events-1.jsonl": "one\n",
        "vault/agents/Mira/archive/0000000001.jsonl": "memory 1\n",
        "vault/config/thinking.md": "as shipped",
    }.items():
        path = made.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made.write_lived(3600.0, {})
    checkpoints.take(made)
    return made


def live(lab, text="more\n"):
    with (lab.home / "logs/events/events-1.jsonl").open("a") as log:
        log.write(text)
    (lab.vault / "agents/Mira/notes").mkdir(parents=True, exist_ok=True)
    (lab.vault / "agents/Mira/notes/new.md").write_text("a note")
    (lab.home / "evennia.db3").unlink(missing_ok=True)


def test_going_back_undoes_what_was_written_made_and_removed_but_for_the_configuration(lab):
    before = contents(lab)
    live(lab)
    lab.write_lived(5000.0, {})
    (lab.vault / "config/thinking.md").write_text("mended")
    shutil.copytree(lab.checkpoints / "0000003600", lab.checkpoints / "0000007200.part")
    half = lab.checkpoints / "0000007200.part/home/evennia.db3"
    half.write_text("half")  # what was not finished counts for nothing
    assert checkpoints.go_back(lab)
    assert contents(lab) == {**before, "vault/config/thinking.md": "mended"}
    assert lab.lived() == 3600.0


def test_a_new_checkpoint_is_gone_back_to_and_the_old_one_kept(lab):
    live(lab)
    lab.write_lived(7200.0, {})
    after = contents(lab)
    checkpoints.take(lab)
    assert [each.lived() for each in checkpoints.all_of(lab)] == [3600.0, 7200.0]
    live(lab, "lost\n")
    checkpoints.go_back(lab)
    assert contents(lab) == after


def test_what_has_not_changed_is_not_copied_again_and_never_shared_with_the_world(lab):
    archive = "vault/agents/Mira/archive/0000000001.jsonl"
    first = lab.checkpoints / "0000003600" / archive
    inode = first.stat().st_ino
    lab.write_lived(7200.0, {})
    checkpoints.take(lab)
    assert (lab.checkpoints / "0000007200" / archive).stat().st_ino == inode
    assert (lab.folder / archive).stat().st_ino != inode


def test_the_configuration_of_each_hour_is_kept_and_shared_while_it_stays_the_same(lab):
    checkpoints.keep_config(lab)
    lab.write_lived(7200.0, {})
    checkpoints.take(lab)
    checkpoints.keep_config(lab)
    first, second = (each.begun_with / "thinking.md" for each in checkpoints.all_of(lab))
    assert first.stat().st_ino == second.stat().st_ino
    (lab.vault / "config/thinking.md").write_text("mended")
    checkpoints.keep_config(lab)
    assert (first.read_text(), second.read_text()) == ("as shipped", "mended")


def test_a_full_disk_leaves_the_checkpoint_before(lab, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = contents(lab)
    live(lab)
    lab.write_lived(7200.0, {})
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy2", full)
        with pytest.raises(KeepsakeError, match="No space left"):
            checkpoints.take(lab)
    checkpoints.go_back(lab)
    assert contents(lab) == before


def test_what_was_half_made_is_removed_and_a_life_without_a_checkpoint_never(lab, tmp_path):
    assert not checkpoints.go_back(Lab(tmp_path / "new"))
    shutil.rmtree(lab.checkpoints)
    before = contents(lab)
    assert not checkpoints.go_back(lab)
    assert contents(lab) == before
    (lab.folder / "progress.json").unlink()
    assert not checkpoints.go_back(lab)
    assert contents(lab) == {"vault/config/thinking.md": "as shipped"}


def test_the_mark_of_a_half_lived_hour_stays_until_it_is_taken_away(lab):
    checkpoints.begin(lab)
    checkpoints.begin(lab)
    assert lab.unsettled.exists()
    checkpoints.settle(lab)
    checkpoints.settle(lab)
    assert not lab.unsettled.exists()
