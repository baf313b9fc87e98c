"""A backup holds the world of one moment; a restore brings all of it back or changes nothing."""

import io
import json
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake import vault_lock
from keepsake.cli import backup as backups
from keepsake.cli import doctor, processes, world_tar
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, ZONE_FILE, Places, Ports, kept_zone, places, prepare
from tests.slow.cli.conftest import Copy, make_copy

SECRET = "a-secret-of-forty-eight-bytes"


def copy_in(folder: Path) -> Places:
    return Places(folder / "home", folder / "vault", Ports(46500))


def world_in(folder: Path, said: str = "Good evening.") -> Places:
    """Create a home and a vault with a small world."""
    here = copy_in(folder)
    prepare(here)
    archive = here.agents / "Mira" / "archive"
    archive.mkdir(parents=True)
    line = {"type": "memory", "n": 1, "t": "2026-05-04T08:00:00+00:00", "kind": "perception"}
    (archive / "0000000001.jsonl").write_text(json.dumps(line | {"text": said}) + "\n")
    (archive / ".lock").touch()
    (archive.parent / "noticed.md").write_text("- rule from Tom: be kind\n")
    here.secret_key.write_text(SECRET)
    with closing(sqlite3.connect(here.database)) as database, database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE rooms (name TEXT)")
        database.execute("INSERT INTO rooms VALUES (?)", (said,))
    return here


def rooms_of(here: Places) -> list[str]:
    with closing(sqlite3.connect(here.database)) as database:
        return [name for (name,) in database.execute("SELECT name FROM rooms")]


def state_of(here: Places) -> dict[str, bytes]:
    """Return the content of all files of a world, by path."""
    tops = (here.agents, here.config, here.database, here.secret_key)
    paths = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    return {str(p): p.read_bytes() for p in paths if p.is_file() and p.name != ".in-use"}


@pytest.fixture(scope="module")
def backup_file(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    return backups.backup(world_in(folder), folder / "world.tar.gz").path


def test_a_backup_is_restored_into_another_home(tmp_path):
    here = world_in(tmp_path / "one")
    there = copy_in(tmp_path / "other")
    (here.agents / ZONE_FILE).write_text("Asia/Tokyo")
    file = backups.backup(here, tmp_path / "world.tar.gz").path
    assert file.stat().st_mode & 0o077 == 0, "it holds secrets"
    backups.restore(there, file)
    assert rooms_of(there) == ["Good evening."]
    assert there.secret_key.read_text() == SECRET
    archive = Path("Mira/archive/0000000001.jsonl")
    assert (there.agents / archive).read_bytes() == (here.agents / archive).read_bytes()
    assert (there.agents / "Mira" / "noticed.md").exists()
    assert {p.name for p in there.config.iterdir()} == {p.name for p in here.config.iterdir()}
    assert not (there.agents / "Mira" / "archive" / ".lock").exists()
    assert kept_zone(there.agents) == "Asia/Tokyo"


def test_restore_refuses_an_existing_world_or_moves_it_aside(tmp_path, backup_file):
    there = world_in(tmp_path, said="Good morning.")
    before = state_of(there)
    with pytest.raises(KeepsakeError, match="--replace"):
        backups.restore(there, backup_file)
    assert state_of(there) == before
    done = backups.restore(there, backup_file, replace=True)
    assert rooms_of(there) == ["Good evening."]
    aside = [path for folder in done.aside for path in folder.rglob("*") if path.is_file()]
    assert {path.read_bytes() for path in aside} >= set(before.values())


@given(st.data())
def test_restore_refuses_a_damaged_file_and_changes_nothing(backup_file, data):
    whole = backup_file.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    broken = (
        whole[:place] if cut else whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        there = world_in(folder, said="Good morning.")
        before = state_of(there)
        (folder / "broken.tar.gz").write_bytes(broken)
        refused = ""
        try:
            backups.restore(there, folder / "broken.tar.gz", replace=True)
        except KeepsakeError as error:
            refused = str(error)
        if refused:
            assert "is damaged" in refused
            assert state_of(there) == before
        else:  # a byte without meaning for gzip, such as the time
            assert not cut
            assert rooms_of(there) == ["Good evening."]
        assert not list(there.home.glob(".restoring")) + list(there.vault.glob(".restoring"))


def make_backup(path: Path, names: dict[str, bytes], **facts: object) -> Path:
    """Create a backup by hand."""
    with tarfile.open(path, "w:gz") as tar:
        manifest = json.dumps({"form": 1, "made": "today", "files": 1} | facts)
        for name, data in {**names, "manifest.json": manifest.encode()}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("names", "facts", "message"),
    [
        ({"vault/../../../stray.md": b"x"}, {}, "outside the destination"),
        ({}, {"form": 99}, "format 99"),
    ],
)
def test_restore_refuses_foreign_files(tmp_path, names, facts, message):
    there = world_in(tmp_path)
    before = state_of(there)
    file = make_backup(tmp_path / "odd.tar.gz", names, **facts)
    with pytest.raises(KeepsakeError, match=message):
        backups.restore(there, file, replace=True)
    assert state_of(there) == before
    assert not list(tmp_path.rglob("stray.md"))


_HOLD_VAULT = """
import sys
from pathlib import Path
from keepsake.paths import Places, Ports
from keepsake import vault_lock
held = vault_lock.take(Places(Path(sys.argv[1]), Path(sys.argv[2]), Ports(46600)))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def vault_held(vault: Path, folder: Path):
    command = [sys.executable, "-c", _HOLD_VAULT, str(folder), str(vault)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=REPOSITORY, text=True, **pipes) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_vault_in_use_is_refused_with_the_name_of_its_holder(tmp_path, monkeypatch):
    monkeypatch.setattr(vault_lock.take, "__kwdefaults__", {"patience": 0.2})
    made: Copy = make_copy(tmp_path)
    prepare(made.here)
    with vault_held(made.here.vault, tmp_path / "other-home") as process:
        refused = made.keepsake("start")
        assert refused.returncode == 1
        told = " ".join(refused.stderr.split())
        assert f"in use by the copy with the home {tmp_path}/other-home" in told
        assert f"(process {process.pid} on " in told
        assert str(tmp_path / "other-home") in vault_lock.holder(made.here)
        monkeypatch.setattr(processes, "running", lambda _: [None])
        (found,) = [each for each in doctor.examine_subject(made.here, "Copy") if not each.well]
        assert f"in use by the copy with the home {tmp_path}/other-home" in found.what
        process.kill()
        process.wait()
        vault_lock.take(made.here).close()
    assert vault_lock.holder(made.here) == ""
    with vault_lock.take(made.here):
        assert all(each.well for each in doctor.examine_subject(made.here, "Copy")), "its own"
    assert not made.here.database.exists()


def test_a_failed_backup_leaves_no_file(tmp_path):
    here = world_in(tmp_path)
    target = tmp_path / "no-folder"
    target.write_text("a file where the folder should be")
    with pytest.raises(KeepsakeError, match="No backup could be written"):
        backups.backup(here, target / "world.tar.gz")
    assert not list(tmp_path.rglob("*.part"))
    here.database.unlink()
    with pytest.raises(
        KeepsakeError, match=r"does not exist.*KEEPSAKE_HOME.*KEEPSAKE_DATABASE_URL"
    ):
        backups.backup(here, tmp_path / "world.tar.gz")


# -- links


def linked_world(folder: Path) -> Places:
    """Create a world with links of all kinds that the game follows."""
    here = world_in(folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pins.md").write_text("- Anneke eats nothing with milk in it.\n")
    nell = here.agents / "Nell"
    (nell / "notes").mkdir(parents=True)
    (nell / "pinned.md").symlink_to(elsewhere / "pins.md")
    (nell / "notes" / "bees.md").write_text("They swarm in May.\n")
    (nell / "noticed.md").symlink_to("notes/bees.md")
    wren = elsewhere / "Wren"
    (wren / "archive").mkdir(parents=True)
    (wren / "archive" / "0000000001.jsonl").write_text("{}\n")
    (wren / "myself").symlink_to(wren)  # a loop
    (here.agents / "Wren").symlink_to(wren)
    return here


def test_a_backup_follows_links_as_the_game_does(tmp_path):
    here = linked_world(tmp_path / "one")
    there = copy_in(tmp_path / "other")
    backups.restore(there, backups.backup(here, tmp_path / "world.tar.gz").path)
    for name in (
        "Nell/pinned.md",
        "Nell/notes/bees.md",
        "Nell/noticed.md",
        "Wren/archive/0000000001.jsonl",
    ):
        restored = there.agents / name
        assert not restored.is_symlink()
        assert restored.read_bytes() == (here.agents / name).read_bytes()
    assert not (there.agents / "Wren" / "myself").exists()


def test_a_backup_names_a_link_that_leads_to_nothing(tmp_path):
    here = linked_world(tmp_path)
    (here.agents / "Bram").symlink_to(tmp_path / "unmounted")
    with pytest.raises(KeepsakeError, match=r"Bram leads to \S+unmounted, which is missing"):
        backups.backup(here, tmp_path / "world.tar.gz")
    assert not list(tmp_path.glob("*.tar.gz")) + list(tmp_path.glob(".*.part"))


def test_a_restore_moves_links_aside_and_leaves_their_targets(tmp_path, backup_file):
    there = linked_world(tmp_path)
    (there.agents / "Bram").symlink_to("../gone")
    done = backups.restore(there, backup_file, replace=True)
    (aside,) = (folder for folder in done.aside if (folder / "agents").exists())
    assert (aside / "agents" / "Wren" / "archive" / "0000000001.jsonl").read_text() == "{}\n"
    assert not (there.agents / "Wren").exists()
    assert (tmp_path / "elsewhere" / "pins.md").read_text().startswith("- Anneke")


def test_a_backup_that_reads_back_otherwise_is_none(tmp_path, monkeypatch):
    """A disk that keeps something else than was written to it."""
    here = world_in(tmp_path)
    write = world_tar.write

    def lose(path, files):
        return write(path, files[:-2] + files[-1:]) | {"vault/agents/Mira/noticed.md": "0" * 64}

    monkeypatch.setattr(world_tar, "write", lose)
    with pytest.raises(KeepsakeError, match=r"does not hold vault/agents/Mira/noticed\.md"):
        backups.backup(here, tmp_path / "world.tar.gz")
    assert not list(tmp_path.glob("*.tar.gz")) + list(tmp_path.glob(".*.part"))


# -- own worlds


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder, through links, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*", recurse_symlinks=True)
        if path.is_file() and not path.name.startswith(".")
    }


def own_world_in(here: Places) -> None:
    """Make an own world with a link to a file and to a folder, and names with spaces."""
    own = here.own_world
    (own / "agents").mkdir(parents=True)
    (own / "agents" / "old piet.md").write_text("You are Old Piet.\n")
    shared = here.home.parent / "shared deeds"
    shared.mkdir()
    (shared / "two sacks.yaml").write_text("name: Two Sacks\n")
    (own / "deeds").symlink_to(shared)
    (shared / "map.yaml").write_text("rooms: {}\n")
    (own / "map.yaml").symlink_to(shared / "map.yaml")


def test_a_world_of_5000_files_with_an_own_world_is_equal_elsewhere(tmp_path):
    here = linked_world(tmp_path / "one place")
    own_world_in(here)
    for number in range(5_000):
        folder = here.agents / f"Nell {number % 50}" / "notes of hers"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"note {number}.md").write_text(f"Note {number}.\n")
    (here.agents / "Wren").resolve().joinpath("myself").unlink()  # a loop has no end to compare
    there = copy_in(tmp_path / "another place")
    made = backups.backup(here, tmp_path / "world.tar.gz")
    assert made.files > 5_000
    backups.restore(there, made.path)
    for one, other in (
        (here.config, there.config),
        (here.agents, there.agents),
        (here.own_world, there.own_world),
    ):
        assert files_in(other) == files_in(one)
    assert len(files_in(there.own_world)) == 4
    assert not [path for path in there.own_world.rglob("*") if path.is_symlink()]
    assert rooms_of(there) == rooms_of(here)
    assert there.secret_key.read_text() == SECRET


def test_a_restore_moves_an_own_world_aside_and_not_by_itself(tmp_path, backup_file):
    there = copy_in(tmp_path)
    prepare(there)
    own_world_in(there)
    before = files_in(there.own_world)
    with pytest.raises(KeepsakeError, match=r"own-world\)\. .*KEEPSAKE_WORLD"):
        backups.restore(there, backup_file)
    assert files_in(there.own_world) == before
    done = backups.restore(there, backup_file, replace=True)
    assert not [*there.own_world.iterdir()]
    (aside,) = (folder for folder in done.aside if (folder / "world").exists())
    assert files_in(aside / "world") == before
    assert (tmp_path / "shared deeds" / "two sacks.yaml").exists(), "its link was moved, not it"


def test_a_backup_says_by_its_format_whether_it_has_an_own_world(tmp_path):
    here = world_in(tmp_path)
    forms = []
    for name in ("without", "with"):
        with tarfile.open(backups.backup(here, tmp_path / f"{name}.tar.gz").path) as tar:
            forms.append(json.load(tar.extractfile("manifest.json"))["form"])
        if name == "without":
            own_world_in(here)
    assert forms == [1, 2]


def test_an_own_world_is_a_folder_of_its_own(tmp_path):
    environ = {"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
    assert places(environ).own_world == tmp_path / "own-world"
    given = places(environ | {"KEEPSAKE_WORLD": str(tmp_path / "ours")})
    assert given.own_world == tmp_path / "ours"
    for wrong in (REPOSITORY / "world", tmp_path, tmp_path / "home" / "world"):
        with pytest.raises(KeepsakeError, match="is not apart from"):
            places(environ | {"KEEPSAKE_WORLD": str(wrong)})


# -- tar files that somebody else has made


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def add_world(tar: tarfile.TarFile, here: Places) -> None:
    """Add what every backup has."""
    tar.add(here.database, "home/evennia.db3")
    manifest = json.dumps({"form": 1, "made": "today", "files": 1}).encode()
    info = tarfile.TarInfo("manifest.json")
    info.size = len(manifest)
    tar.addfile(info, io.BytesIO(manifest))


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_restore_refuses_what_is_no_regular_file(tmp_path, kind):
    there = world_in(tmp_path)
    before = state_of(there)
    with tarfile.open(tmp_path / "odd.tar.gz", "w:gz") as tar:
        tar.addfile(member("vault/agents/Mira/pinned.md", kind))
        add_world(tar, there)
    with pytest.raises(KeepsakeError, match="is no regular file"):
        backups.restore(there, tmp_path / "odd.tar.gz", replace=True)
    assert state_of(there) == before


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_restore_creates_no_link_and_writes_through_none(tmp_path, kind):
    """Python 3.13.0 itself would follow such a chain of links (CVE-2025-4517)."""
    there = world_in(tmp_path / "world")
    outside = tmp_path / "outside"
    outside.mkdir()
    data = b"written outside"
    with tarfile.open(tmp_path / "odd.tar.gz", "w:gz") as tar:
        tar.addfile(member("vault/agents/Mira/out", kind, str(outside)))
        stray = tarfile.TarInfo("vault/agents/Mira/out/stray.md")
        stray.size = len(data)
        tar.addfile(stray, io.BytesIO(data))
        add_world(tar, there)
    done = backups.restore(there, tmp_path / "odd.tar.gz", replace=True)
    assert done.links == (f"vault/agents/Mira/out (to {outside})",)
    assert not list(outside.iterdir())
    assert not [path for path in there.vault.rglob("*") if path.is_symlink()]
