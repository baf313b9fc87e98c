"""The event log and its commands, tested with real processes."""

import json
import os
import signal
import subprocess
import sys

import pytest

from keepsake.events.files import events
from keepsake.events.log import EventLog
from keepsake.events.prompts import prompts_of
from keepsake.events.types import (
    Compaction,
    Fault,
    Health,
    MemoryChange,
    Recall,
    Recalled,
    Sleep,
    Thought,
    World,
)
from keepsake.events.values import (
    Author,
    CompactionOutcome,
    CompactReason,
    FaultLevel,
    MemoryOp,
    RecalledKind,
    RecallPurpose,
    SleepOp,
    ThoughtOutcome,
    Urgency,
    WorldOp,
)
from keepsake.paths import REPOSITORY
from tests.unit.lab.in_process import keepsake

# Logs events until it is killed, and prints how many of them the log has reported as written.
MAKER = """
import sys
from itertools import count
from pathlib import Path
from keepsake.events.log import EventLog
from keepsake.events.types import MemoryChange, Thought
from keepsake.events.values import MemoryOp, ThoughtOutcome, Urgency
log = EventLog(Path(sys.argv[1]), file_bytes=int(sys.argv[2]), buffer=100_000)
of = {"agent": "Mira", "trigger": "idle", "priority": Urgency.IDLE, "outcome": ThoughtOutcome.ACTED}
for n in count(1):
    prompt = "who she is, and all that she may do. " * 40 + f"\\n{n}"
    change = MemoryChange(agent="Mira", op=MemoryOp.APPEND, n=n, of="act", size=n)
    log.emit(change if n % 2 else Thought(**of, prompt=prompt))
    if n % 20 == 0 and log.flush():
        print(n, flush=True)
"""


def start_maker(folder, file_bytes):
    command = [sys.executable, "-c", MAKER, str(folder), str(file_bytes)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("file_bytes", [5_000, 16_000_000])
def test_flushed_events_survive_kill_9(tmp_path, file_bytes):
    folder = tmp_path / "events"
    runs = 4
    known = 0
    for run in range(runs):
        with start_maker(folder, file_bytes) as maker:
            for _ in range(10 + 7 * run):  # killed at another moment each time
                said = int(maker.stdout.readline())
            os.kill(maker.pid, signal.SIGKILL)
            said = max([said, *map(int, maker.stdout.read().split())])
        log = EventLog(folder, file_bytes=file_bytes)
        log.emit(World(op=WorldOp.STARTS, n=run))
        assert log.flush(60)
        log.close()
        found = list(events(folder))
        assert [each["seq"] for each in found] == list(range(1, len(found) + 1))
        logged = [each for each in found[known:] if each["kind"] in ("memory", "thought")]
        assert len(logged) >= said
        assert [each["n"] for each in logged if each["kind"] == "memory"] == list(
            range(1, len(logged) + 1, 2)
        )
        prompts = dict(prompts_of(folder, {each.get("prompt", "") for each in found}))
        for n, each in enumerate(logged, 1):
            if each["kind"] == "thought":
                assert prompts[each["prompt"]].endswith(f"\n{n}")
        known = len(found)
    assert sum(each.get("op") == "starts" for each in events(folder)) == runs


@pytest.fixture
def logged_copy(copy):
    """A copy whose event log has an event of each kind, some twice or more."""
    log = EventLog(copy.here.events)
    log.emit(World(op=WorldOp.STARTS))
    log.emit(
        Thought(
            agent="Mira",
            trigger="addressed",
            priority=Urgency.PLAYER,
            outcome=ThoughtOutcome.ACTED,
            source="Tom",
            prompt="who she is\n~Mira>",
            sections={"window": 12, "who it is": 3},
            prompt_tokens=1200,
            model="m",
            answer=" say Hm, [bold]äh\x1b[31m",
            command="say Hm, [bold]äh\x1b[31m",
            reason="politeness",
            memory=7,
            recalled=(
                Recalled(kind=RecalledKind.MEMORY, n=3, score=1.5, why="words: cup"),
                Recalled(kind=RecalledKind.NOTE, title="cups", score=0.5),
            ),
        )
    )
    log.emit(MemoryChange(agent="Oswin", op=MemoryOp.APPEND, n=3, of="act", size=30))
    log.emit(MemoryChange(agent="Mira", op=MemoryOp.UNDO, n=3, problem="there is none"))
    log.emit(
        Compaction(
            agent="Mira",
            reason=CompactReason.COUNT,
            outcome=CompactionOutcome.WATERFALL,
            number=2,
            last=9,
        )
    )
    log.emit(Health(provider="ollama", host="http://127.0.0.1:1", ready=False, problem="refused"))
    log.emit(Fault(level=FaultLevel.ERROR, subsystem="index", text="something broke"))
    log.emit(
        Sleep(agent="Mira", op=SleepOp.STEP, step="compact", figures={"files": 2, "share": 0.5})
    )
    log.emit(
        Recall(
            agent="Mira",
            by=RecallPurpose.THOUGHT,
            question="Tom: cups?\nThe Inn",
            found=2,
            best=1.5,
        )
    )
    log.emit(Recall(agent="Mira", by=RecallPurpose.AGENT, question="=cups()", searched=False))
    log.emit(
        MemoryChange(agent="Mira", op=MemoryOp.NOTE, n=0, title="cups", size=9, by=Author.AGENT)
    )
    assert log.flush(60)
    log.close()
    return copy


def lines_of(copy, *arguments):
    ran = keepsake(copy.environ, "logs", "--no-follow", *arguments)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def test_logs_shows_events_as_plain_lines(logged_copy):
    shown = lines_of(logged_copy)
    assert len(shown) == 11
    assert "say Hm, [bold]äh·[31m | politeness" in shown[1]
    assert "\x1b" not in "".join(shown)
    assert "Oswin  append n=3 of='act' size=30" in shown[2]
    assert "question='Tom: cups?" in shown[8]


def test_logs_filters_events_by_agent_kind_and_level(logged_copy):
    assert len(lines_of(logged_copy, "--agent", "mira")) == 7
    assert len(lines_of(logged_copy, "-a", "mira", "-a", "oswin", "--kind", "memory")) == 3
    assert lines_of(logged_copy, "-n", "1", "--kind", "world")[0].endswith("starts")
    (fault,) = lines_of(logged_copy, "--level", "error")
    assert "something broke level='error' subsystem='index'" in fault
    (record,) = map(json.loads, lines_of(logged_copy, "--kind", "thought", "--json"))
    assert record["sections"] == {"window": 12, "who it is": 3}


def test_an_unknown_event_kind_is_reported(logged_copy):
    wrong = keepsake(logged_copy.environ, "logs", "--no-follow", "--kind", "dream")
    assert (wrong.returncode, "thought, guard, memory, recall" in wrong.stderr) == (1, True)


def test_logs_follows_new_events(logged_copy):
    command = [sys.executable, "-m", "keepsake", "logs", "--agent", "Mira"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=logged_copy.environ, stdout=subprocess.PIPE, text=True
    ) as shown:
        assert "addressed by Tom" in shown.stdout.readline()
        log = EventLog(logged_copy.here.events)
        for n in range(100, 103):
            log.emit(MemoryChange(agent="Mira" if n % 2 == 0 else "Oswin", op=MemoryOp.APPEND, n=n))
        log.close()
        lines = [shown.stdout.readline() for _ in range(8)]
        shown.terminate()
    assert ["append n=100" in lines[6], "append n=102" in lines[7]] == [True, True]


def test_export_writes_a_file_for_every_kind(logged_copy, tmp_path):
    out = tmp_path / "tables"
    ran = keepsake(logged_copy.environ, "export", str(out))
    assert (ran.returncode, ran.stderr) == (0, "")
    kinds = ["compaction", "error", "health", "memory", "prompts", "recall", "sleep", "thought"]
    kinds += ["world"]  # it has no archives
    assert tables_in(out) == [f"{kind}.jsonl" for kind in kinds]

    def rows(name):
        lines = (out / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    (thought,) = rows("thought")
    (prompt,) = rows("prompts")
    assert thought["sections"] == {"window": 12, "who it is": 3}
    assert [each["title"] for each in thought["recalled"]] == ["", "cups"]
    assert prompt == {"hash": thought["prompt"], "text": "who she is\n~Mira>"}


def test_export_filters_and_refuses_a_folder_in_use(logged_copy, tmp_path):
    out = tmp_path / "tables"
    assert keepsake(logged_copy.environ, "export", str(out), "--agent", "oswin").returncode == 0
    assert tables_in(out) == ["memory.jsonl"]
    (tmp_path / "file").touch()
    for folder, agent, told in (
        ("none", "nobody", "There are no such events"),
        ("file", "oswin", "file is not an empty folder"),
    ):
        refused = keepsake(logged_copy.environ, "export", str(tmp_path / folder), "--agent", agent)
        assert refused.returncode == 1
        assert told in " ".join(refused.stderr.split())
    assert not (tmp_path / "none").exists()


def tables_in(folder):
    """Return the names of the tables in a folder, without hidden files."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
