"""A process that is killed while it changes plans: nothing that was reported done is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from random import Random

from keepsake.archive.log import Archive
from keepsake.books.plan import PlanState
from keepsake.books.plans import PlanBook
from keepsake.paths import REPOSITORY

KILLS = 20
"""How often the process is killed. ``python -m tests.unit.mind.test_plans_killed 200`` kills it
more often."""
CHILD = """
import sys
from pathlib import Path
from random import Random
from keepsake.archive.log import Archive
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plans import MOST_OPEN, PlanBook

folder = Path(sys.argv[1])
dice = Random(sys.argv[2])
archive = Archive(folder / "archive")
book = PlanBook(folder / "plans.md", record=archive.append)
book.record_changes(archive.backwards)  # as at the start of an agent

def report(number, state):
    print(number, state, flush=True)

print("ready", flush=True)
while True:
    current = book.current
    if len(current) < 3 or (len(current) < MOST_OPEN and dice.random() < 0.3):
        made = book.add(Plan(what=f"do thing {dice.getrandbits(64):x}"))
        report(made.number, "open")
        continue
    plan = dice.choice(current)
    if plan.state is PlanState.OPEN:
        book.set_state(plan, PlanState.DOING)
        report(plan.number, "doing")
    else:
        book.set_state(plan, PlanState.DONE)
        report(plan.number, "done")
"""
ORDER = [PlanState.OPEN, PlanState.DOING, PlanState.DONE]


def kill_once(folder, dice):
    """Let the process work for a moment and kill it; return what it reported, by number."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(dice.random())],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == "ready\n"
        lines = [child.stdout.readline() for _ in range(dice.randrange(4))]
        time.sleep(dice.uniform(0.0, 0.01))
        os.kill(child.pid, signal.SIGKILL)
        lines += child.stdout.read().splitlines(keepends=True)
    reported = {}
    for line in lines:
        if line.endswith("\n"):
            number, state = line.split()
            reported[int(number)] = PlanState(state)
    return reported


def run(folder, kills):
    """Kill the process again and again, and check the plans after each kill."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = Random(7)
    reported = {}
    for _ in range(kills):
        reported |= kill_once(folder, dice)
        book = PlanBook(folder / "plans.md")
        numbers = [each.number for each in book.items]
        assert len(numbers) == len(set(numbers))
        states = {each.number: each.state for each in book.items}
        archive = Archive(folder / "archive")
        book = PlanBook(folder / "plans.md", record=archive.append)
        book.record_changes(archive.backwards)
        changes = [
            (line["id"], line["change"]) for line in archive.backwards() if line["type"] == "plan"
        ]
        archive.close()
        assert len(changes) == len(set(changes)), "no change is recorded twice"
        for number, state in reported.items():
            if number in states:
                assert ORDER.index(states[number]) >= ORDER.index(state)
            else:  # the file keeps only the newest that have ended
                assert (number, "done") in changes
        wanted = {"open": "made", "doing": "doing", "done": "done"}
        for number, state in reported.items():
            assert (number, wanted[state.value]) in changes
    return reported


def test_a_kill_loses_no_plan_and_repeats_none(tmp_path):
    assert PlanState.DONE in run(tmp_path / "Mira", KILLS).values()


if __name__ == "__main__":
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as scratch:
        found = run(Path(scratch), int(sys.argv[1]))
        print(f"{sys.argv[1]} kills, {len(found)} plans reported, none lost, none twice")
