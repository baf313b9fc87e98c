"""The doctor sees what is wrong with what agents remember, and which copy it looks at."""

import json
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from game.cli.checks import machine, memories
from game.cli.world import home, processes
from keepsake.archive.spill import Spill
from keepsake.paths import Places, Ports


@pytest.fixture
def here(copy) -> Places:
    home.prepare(copy.here)
    archive = copy.here.agents / "Mira" / "archive"
    archive.mkdir(parents=True)
    (archive / "0000000001.jsonl").write_bytes(b"".join(map(line, range(1, 11))))
    (archive / "0000000011.jsonl").write_bytes(b"".join(map(line, range(11, 21))))
    (archive.parent / "noticed.md").write_text("- rule from Tom: be kind\n")
    return copy.here


def line(number: int) -> bytes:
    time = datetime(2026, 5, 4, tzinfo=UTC).isoformat()
    record = {"type": "memory", "n": number, "t": time, "kind": "perception", "text": "Rain."}
    return json.dumps(record).encode() + b"\n"


def wrong(here: Places) -> list[str]:
    checks = (memories.waiting, memories.archives, memories.files)
    found = (finding for check in checks for finding in check(here))
    return [f"{each.subject}: {each.what}" for each in found if not each.well]


def segment(here: Places, number: int) -> Path:
    return here.agents / "Mira" / "archive" / f"{number:010d}.jsonl"


def test_whole_memories_are_well(here):
    assert wrong(here) == []


def test_a_line_that_cannot_be_read_is_named(here):
    path = segment(here, 1)
    path.write_bytes(path.read_bytes().replace(b'"n": 4', b'"n": \xff'))
    (told,) = wrong(here)
    assert "Mira: the archive line 0000000001.jsonl" in told
    assert "memories 4-4 are missing" in told


def test_an_end_of_an_older_segment_that_is_gone_is_named(here):
    segment(here, 1).write_bytes(b"".join(map(line, range(1, 8))))
    (told,) = wrong(here)
    assert "memories 8-10 are missing from the archive" in told


def test_what_is_no_file_is_named(here):
    path = segment(here, 11)
    path.unlink()
    path.mkdir()
    (told,) = wrong(here)
    assert "0000000011.jsonl" in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("noticed.md", b"- rule \xff\n"),
        ("pinned.md", b"\xff\xfe-\x00"),
        ("profile.md", b"\xff"),
        ("notes/well.md", b"---\ntitle: [\n---\n"),
        ("people/Tom-1.md", b"Tom, without anything at its head."),
        ("journal/2026-11-21.md", b"## 20261121-1\n\n- **importance**: 99\n"),
    ],
)
def test_a_file_that_a_person_broke_is_named(here, name, text):
    path = here.agents / "Mira" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text)
    (told,) = wrong(here)
    assert str(path) in told


def test_what_waits_for_the_next_start_is_told(here):
    spill = Spill(here.spill)
    for text in ("Rain.", "Snow."):
        spill.keep("Mira", {"text": text, "kind": "perception", "time": "2026-05-04T08:00:00"})
    assert wrong(here) == [f"Waiting memories: 2 of Mira wait in {here.spill}"]


def test_a_folder_that_takes_no_file_is_told_by_trying(here):
    nowhere = Places(Path("/proc/self/fd"), here.vault, Ports(46500))
    found, _ = machine.room(nowhere)
    assert not found.well
    assert "/proc/self/fd cannot be written to" in found.what


@contextmanager
def portal(copy, **environ):
    """Something that looks like this copy's Portal, as it was started with ``environ``."""
    command = [sys.executable, "-c", "print('up', flush=True); input()"]
    command.append(f"--pidfile={copy.here.portal_pid}")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=copy.environ | environ, **pipes) as process:
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def test_a_shell_that_names_another_copy_is_told_and_the_running_one_looked_at(copy, here):
    with portal(copy, KEEPSAKE_PORT_BASE="46510"):
        assert processes.actual(here).ports == Ports(46510)
        done = copy.keepsake("doctor", "--json")
    found = {each["subject"]: each for each in json.loads(done.stdout)}
    assert done.returncode == 1
    assert "port base 46510" in found["Copy"]["what"]
    assert "KEEPSAKE_PORT_BASE=46510" in found["Copy"]["cure"]
    assert processes.actual(here) == here, "nothing runs any more"
