"""``keepsake doctor`` reports each problem with its place and a cure."""

import json
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.spill import Spill
from keepsake.cli import doctor, processes
from keepsake.events.log import EventLog
from keepsake.events.types import Fault
from keepsake.events.values import FaultLevel
from keepsake.paths import prepare
from keepsake.ports import FixedClock
from tests.empty_tables import copy_tables


def run_doctor(copy):
    done = copy.keepsake("doctor", "--json")
    findings = json.loads(done.stdout)
    wrong = [finding for finding in findings if not finding["well"]]
    assert done.returncode == (1 if wrong else 0)
    return findings, wrong


def broken_setting(copy):
    path = copy.here.config / "memory_compaction.md"
    path.write_text("# Sizes\n\n**immediate_window**: many\n")
    return f"{path}, line 3: immediate_window"


def broken_prompt(copy):
    path = copy.here.config / "prompts" / "summarise.md"
    path.write_text(path.read_text().replace("{{ words }}", "{{ word }}"))
    return "there is no variable 'word'"


def missing_file(copy):
    path = copy.here.config / "memory_compaction.md"
    path.unlink()
    return f"{path} is missing"


def damaged_database(copy):
    copy.here.database.write_bytes(b"no database " * 1000)
    return "is damaged (file is not a database)"


def waiting_memory(copy):
    memory = {"text": "Rain.", "kind": "perception", "time": "2026-05-04T08:00:00"}
    Spill(copy.here.spill).keep("Mira", memory)
    return f"memories of Mira that wait in {copy.here.spill}: 1"


def broken_line(copy):
    archive(copy, [*map(line, range(1, 4)), b"\xff\n", *map(line, range(5, 8))])
    return "Mira: the archive line 0000000001.jsonl"


def broken_note(copy):
    path = copy.here.agents / "Mira" / "notes" / "well.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"---\ntitle: [\n---\n")
    return str(path)


def broken_summary(copy):
    path = copy.here.agents / "Mira" / "summaries" / "recent-edited-before-1.md"
    path.parent.mkdir(parents=True)
    path.write_text("Tom came.")
    return str(path)


def archive(copy, lines):
    folder = copy.here.agents / "Mira" / "archive"
    folder.mkdir(parents=True)
    (folder / "0000000001.jsonl").write_bytes(b"".join(lines))


def line(number):
    time = datetime(2026, 5, 4, tzinfo=UTC).isoformat()
    record = {"type": "memory", "n": number, "t": time, "kind": "perception", "text": "Rain."}
    return json.dumps(record).encode() + b"\n"


@pytest.mark.parametrize(
    "fault",
    [
        broken_setting,
        broken_prompt,
        missing_file,
        damaged_database,
        waiting_memory,
        broken_line,
        broken_note,
        broken_summary,
    ],
)
def test_each_problem_is_reported_with_a_cure(copy, fault):
    prepare(copy.here)
    what = fault(copy)
    _, (finding,) = run_doctor(copy)
    assert what in finding["what"]
    assert finding["cure"]


def test_a_healthy_copy_has_no_problems(copy, tables):
    copy_tables(tables, copy.here)
    prepare(copy.here)
    archive(copy, map(line, range(1, 8)))
    findings, wrong = run_doctor(copy)
    assert wrong == []
    what = {finding["subject"]: finding["what"] for finding in findings}
    assert what["Archives"] == "7 lines of 1 agents are intact"
    assert "SQLite" in what["Database"]


def test_problems_that_the_running_world_knows_are_reported(copy, monkeypatch):
    monkeypatch.setattr(processes, "ask", lambda *_: ["It evaluates 9 tokens. Give it more"])
    (found,) = doctor.examine_subject(copy.here, "Model servers")
    assert (found.well, found.what, found.cure) == (False, "It evaluates 9 tokens", "Give it more")


@contextmanager
def portal(copy, **environ):
    """Run a process that looks like this copy's Portal, started with ``environ``."""
    command = [sys.executable, "-c", "print('up', flush=True); input()"]
    command.append(f"--pidfile={copy.here.portal_pid}")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=copy.environ | environ, **pipes) as process:
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def test_the_settings_of_the_running_copy_are_used_not_those_of_the_shell(copy):
    prepare(copy.here)
    with portal(copy, KEEPSAKE_PORT_BASE="46510"):
        done = copy.keepsake("doctor", "--json")
    found = {each["subject"]: each for each in json.loads(done.stdout)}
    assert "port base 46510" in found["Copy"]["what"]
    assert found["World"]["what"] == "runs without its server"


def test_doctor_counts_the_errors_of_the_last_day_by_agent_and_subsystem(copy):
    now = datetime.now(UTC)
    log = EventLog(copy.here.events, clock=FixedClock(now - timedelta(days=3)))
    log.emit(Fault(level=FaultLevel.ERROR, subsystem="index", agent="Mira", text="long ago"))
    log.close()
    log = EventLog(copy.here.events, clock=FixedClock(now))
    for text in ("first", "second"):
        log.emit(Fault(level=FaultLevel.ERROR, subsystem="compaction", agent="Mira", text=text))
    log.emit(Fault(level=FaultLevel.ERROR, subsystem="compaction", agent="Oswin", text="another"))
    log.emit(Fault(level=FaultLevel.WARNING, subsystem="models", text="slow"))
    log.close()
    found = [each.what for each in doctor.examine_subject(copy.here, "Faults")]
    assert len(found) == 2
    assert found[0].startswith("Mira, compaction: 2 since yesterday")
    assert found[0].endswith(": second")
    assert found[1].startswith("Oswin, compaction: 1 since yesterday")


def test_doctor_is_content_with_warnings(copy):
    log = EventLog(copy.here.events)
    log.emit(Fault(level=FaultLevel.WARNING, subsystem="models", text="slow"))
    log.close()
    (found,) = doctor.examine_subject(copy.here, "Faults")
    assert (found.well, found.what) == (True, "warnings since yesterday: models 1")
