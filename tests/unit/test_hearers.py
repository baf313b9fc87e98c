"""The soak's check of who heard what finds each way in which a whisper may come out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.events.log import EventLog
from keepsake.events.types import Guard, Thought
from keepsake.events.values import GuardOp, ThoughtOutcome, Urgency
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.paths import Places, places
from tests.fakes.model_server import Call
from tests.slow.soak import hearers
from tests.slow.soak.players import SaidLine, SoakPlayer

NOW = datetime(2026, 11, 29, 11, tzinfo=UTC)
TOM = Person("Anneke", "71-1")
BOB = Person("Bertil", "72-1")
MIRA = Person("Mira", "4-1")
JOSS = Person("Joss", "5-1")
OPEN = SaidLine("Bertil", "Mira", "The eels, p1n1x.", "p1n1x", room="The Kettle", echoed=True)
SECRET = SaidLine("Anneke", "Mira", "The key, p0n1w.", "p0n1w", True, "The Kettle", True)
OTHER = SaidLine("Bertil", "Mira", "The cart, p1n2w.", "p1n2w", True, "The Kettle", True)


def heard(speaker: Person, to: Person, line: SaidLine, place: str = "The Kettle") -> Memory:
    manner = Manner.WHISPER if line.whispered else Manner.SAY
    what = Speech(speaker=speaker, words=line.words, to=(to,), manner=manner, shown=line.words)
    return Memory(0, NOW, what, place=place)


def said(words: str, to: Person, manner: Manner = Manner.SAY) -> Memory:
    what = Speech(speaker=ME, words=words, to=(to,), manner=manner, shown=words)
    return Memory(0, NOW, what, place="The Kettle", happening="own")


@dataclass
class Run:
    """The files of a run in which everything is right, before a leak is added."""

    here: Places
    memories: dict[str, list[Memory]] = field(default_factory=dict)
    events: list[Thought | Guard] = field(default_factory=list)
    requests: list[Call] = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=dict)
    summary: str = ""

    def think(self, agent: str, prompt: str, *memories: int) -> None:
        self.events.append(
            Thought(
                agent=agent,
                agent_id=4 if agent == MIRA.name else 5,
                trigger="addressed",
                priority=Urgency.PLAYER,
                outcome=ThoughtOutcome.ACTED,
                prompt=prompt,
                memories=memories,
            )
        )

    def ask(self, session: str, prompt: str) -> None:
        body = {"messages": [{"role": "user", "content": prompt}]}
        self.requests.append(Call("/v1/chat/completions", body, 1, session))

    def write(self, path: str, text: str) -> None:
        (self.here.agents / path).write_text(text)

    def problems(self) -> list[str]:
        for agent, memories in self.memories.items():
            with closing(Archive(self.here.agents / agent / "archive")) as archive:
                for number, memory in enumerate(memories, 1):
                    archive.append(replace(memory, number=number).to_record())
                if self.summary:
                    summary = Summary(Tier.RECENT, 1, 1, self.summary, "fake", NOW)
                    archive.append({"type": "compaction", "recent": summary.to_record()})
        with closing(EventLog(self.here.events)) as log:
            for event in self.events:
                log.emit(event)
        players = []
        for number, lines in enumerate([[SECRET], [OPEN, OTHER]]):
            player = SoakPlayer(7, number, self.here.ports, frozenset({"Mira", "Joss"}))
            player.said = lines
            player.shown = [self.shown.get(player.name, "")]
            players.append(player)
        return hearers.problems(hearers.Evidence(self.here, players, self.requests))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    here = places({"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "v")})
    for agent in ("Mira", "Joss"):
        (here.agents / agent / "summaries").mkdir(parents=True)
    here.logs.mkdir(parents=True)
    made = Run(here)
    made.memories = {
        "Mira": [
            heard(BOB, ME, OPEN),
            heard(TOM, ME, SECRET),
            heard(BOB, ME, OTHER),
            said("It was p0n1w.", TOM, Manner.WHISPER),
        ],
        "Joss": [heard(BOB, MIRA, OPEN)],
    }
    made.think("Mira", "Anneke whispers: p0n1w", 4)
    made.think("Joss", "Bertil says: p1n1x")
    made.ask("keepsake-agent-4", "Anneke whispers: p0n1w")
    made.shown = {"Anneke": "You whisper: p0n1w", "Bertil": "Bertil says p1n1x"}
    made.write("Mira/plans.md", "- [ ] to tell of p0n1w (plan 1, memory 4, only for 71-1)\n")
    return made


def test_a_run_in_which_nobody_was_told_on_has_no_problems(run: Run):
    assert run.problems() == []


def overheard(run: Run) -> None:
    run.memories["Joss"].append(heard(TOM, MIRA, SECRET))


def said_aloud(run: Run) -> None:
    run.memories["Mira"].append(Memory(0, NOW, said("p0n1w", BOB).what))


def in_another_room(run: Run) -> None:
    run.memories["Joss"][0] = heard(BOB, MIRA, OPEN, "The Quay")


def to_somebody_else(run: Run) -> None:
    run.memories["Joss"][0] = heard(BOB, ME, OPEN)


def by_somebody_else(run: Run) -> None:
    run.memories["Joss"][0] = heard(Person("Bertil", "99-1"), MIRA, OPEN)


def agent_heard_elsewhere(run: Run) -> None:
    run.memories["Mira"].append(replace(said("Hm.", BOB), happening="two"))
    what = Speech(speaker=MIRA, words="Hm.", to=(BOB,), shown="Hm.")
    run.memories["Joss"].append(Memory(0, NOW, what, place="The Quay", happening="two"))


def agent_whispered_to_another(run: Run) -> None:
    what = Speech(speaker=MIRA, words="Hm.", to=(TOM,), manner=Manner.WHISPER, shown="Hm.")
    run.memories["Joss"].append(Memory(0, NOW, what, place="The Kettle", happening="own"))


def answered_aloud(run: Run) -> None:
    run.memories["Mira"][3] = said("You know what.", TOM)


def prompt_of_another(run: Run) -> None:
    run.think("Joss", "p0n1w")


def prompt_of_two(run: Run) -> None:
    run.think("Mira", "p0n1w and p1n2w")


def request_of_another(run: Run) -> None:
    run.ask("keepsake-agent-5", "p0n1w")


def request_for_a_summary(run: Run) -> None:
    run.ask("", "Write your summary: p0n1w")


def event_of_another(run: Run) -> None:
    refused = {"task": "talk", "op": GuardOp.REFUSED, "reason": "no"}
    run.events.append(Guard(agent="Joss", before="p0n1w", **refused))


def in_a_summary(run: Run) -> None:
    run.summary = "I know of p0n1w."


def in_a_summary_file(run: Run) -> None:
    run.write("Mira/summaries/recent.md", "I know of p0n1w.")


def in_an_open_plan(run: Run) -> None:
    run.write("Mira/plans.md", "- [ ] to tell of p0n1w (plan 1, memory 4)\n")


def in_a_note(run: Run) -> None:
    run.write("Mira/pinned.md", "- p0n1w\n")


def in_the_database(run: Run) -> None:
    run.here.database.write_bytes(b"\x00\x07p0n1w\x00")


def in_the_log_of_another(run: Run) -> None:
    line = "2026-11-29 11:00:00 INFO thoughts Joss: addressed -> say p0n1w\n"
    run.here.agents_log.write_text(line)


def on_a_screen(run: Run) -> None:
    run.shown["Bertil"] = 'Mira says, "p0n1w"'


@pytest.mark.parametrize(
    "leak",
    [
        overheard,
        said_aloud,
        in_another_room,
        to_somebody_else,
        by_somebody_else,
        agent_heard_elsewhere,
        agent_whispered_to_another,
        answered_aloud,
        prompt_of_another,
        prompt_of_two,
        request_of_another,
        request_for_a_summary,
        event_of_another,
        in_a_summary,
        in_a_summary_file,
        in_an_open_plan,
        in_a_note,
        in_the_database,
        in_the_log_of_another,
        on_a_screen,
    ],
)
def test_each_way_out_is_found(run: Run, leak: Callable[[Run], None]):
    leak(run)
    assert run.problems()
