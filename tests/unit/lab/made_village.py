"""A made simulation: archives, events and answers, without a world and without a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner, Person, Sight, Speech
from keepsake.json_lines import Record, line_of
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.plan import BEGINS, PLAN, PROGRESS, SimulationPlan
from keepsake.lab.simulations.record import (
    AGENTS,
    EVENTS,
    INTERVIEW,
    PRESENCE,
    CastMember,
    SimulationRecord,
    write_cast,
)

BONFIRE = Item(
    id="bonfire",
    kind="invitation",
    to="bram",
    line="You light a bonfire on {when}.",
    says=("bonfire", "fire, orchard|prunings"),
    question="Has anybody asked you to come somewhere?",
    where="orchard",
    hours=9,
    minutes=30,
)


def identity(name: str) -> str:
    return f"{len(name)}{ord(name[0])}-20260504080000"


class MadeVillage:
    """Agents whose archives a test writes, memory by memory.

    Attributes:
        now: The time of the next happening; it stands still unless a test moves it.
    """

    def __init__(self, *names: str, name: str = "made", **plan: Any) -> None:
        self.now: datetime = BEGINS
        self.plan = SimulationPlan(name=name, agents=len(names), hours=48, **plan)
        self.memories: dict[str, list[Memory]] = {each: [] for each in names}
        self.plan_lines: dict[str, list[Record]] = {each: [] for each in names}
        self.log: list[Record] = []
        self.presence: list[Record] = []
        self.answers: list[Record] = []
        self.knows: dict[str, tuple[str, ...]] = {}
        self._happenings = 0

    def person(self, name: str) -> Person:
        return Person(name, identity(name))

    def add(self, name: str, what: Any, **facts: Any) -> int:
        """Add a memory to an archive; return its number."""
        own = self.memories[name]
        own.append(Memory(len(own) + 1, self.now, what, place="The Quay", **facts))
        return len(own)

    def happening(self) -> str:
        self._happenings += 1
        return f"h{self._happenings}"

    def give(self, name: str, item: Item = BONFIRE) -> int:
        return self.add(name, Sight(shown=item.line), happening=item.happening, event="given")

    def say(
        self,
        speaker: str,
        words: str,
        heard_by: Sequence[str] = (),
        *,
        to: str = "",
        whisper: bool = False,
        seen_by: Sequence[str] = (),
        **facts: Any,
    ) -> int:
        """Let an agent say words; return the number of its own memory.

        Args:
            to: To whom; empty for everybody.
            seen_by: Who sees that something is whispered.
            facts: Further fields of the speaker's memory: ``rests_on`` …
        """
        happening = self.happening()
        manner = Manner.WHISPER if whisper else Manner.SAY
        people = (self.person(to),) if to else ()
        number = self.add(
            speaker,
            Speech(speaker=ME, words=words, to=people, manner=manner, shown=f"say {words}"),
            happening=happening,
            **facts,
        )
        for name in heard_by:
            mine = tuple(ME if each == self.person(name) else each for each in people)
            heard = Speech(
                speaker=self.person(speaker),
                words=words,
                to=mine,
                manner=manner,
                shown=f'{speaker} says, "{words}"',
            )
            self.add(name, heard, happening=happening, event=facts.get("event", ""))
        for name in seen_by:
            shown = f"{speaker} whispers to {to}."
            self.add(name, Sight(source=self.person(speaker), shown=shown), happening=happening)
        return number

    def hear_player(self, name: str, words: str) -> int:
        speech = Speech(speaker=Person("Tom", "900-20260504080000"), words=words, shown=words)
        return self.add(name, speech, happening=self.happening())

    def tell_news(self, teller: str, words: str, listener: str, *chain: str) -> int:
        """Let an agent tell news by rule, with the chain of sources."""
        facts = {"event": MessageType.HEARSAY, "chain": "; ".join(chain)}
        return self.say(teller, words, [listener], to=listener, **facts)

    def think(self, name: str, *acts: int, **fields: Any) -> None:
        """Log a thought of an agent that led to these acts."""
        thought = {"kind": "thought", "agent": name, "prompt": "abc", "outcome": "acted"}
        defaults = {"trigger": "other", "prompt_tokens": 100, "completion_tokens": 10}
        self.log.append({**thought, **defaults, "memories": list(acts), **fields})

    def look(self, item: Item, day: str, minute: int, *here: str) -> None:
        time = item.begins(BEGINS) + timedelta(minutes=minute)
        people = [identity(each) for each in here]
        self.presence.append({"item": item.id, "day": day, "t": time.isoformat(), "here": people})

    def answer(self, name: str, kind: str, number: int, words: str, **fields: Any) -> None:
        question = f"{kind} {number}?"
        line = {"agent": name, "kind": kind, "number": number, "question": question}
        self.answers.append({**line, "item": "", "words": words, "problem": "", **fields})

    @property
    def cast(self) -> dict[str, CastMember]:
        return {
            name: CastMember(
                name=name, identity=identity(name), folder=name, knows=self.knows.get(name, ())
            )
            for name in self.memories
        }

    def record(self, folder: Path | None = None) -> SimulationRecord:
        return SimulationRecord(
            folder=folder or Path(self.plan.name),
            plan=self.plan,
            hours=48.0,
            cast=self.cast,
            memories=self.memories,
            plan_lines=self.plan_lines,
            log=self.log,
            presence=self.presence,
            answers=self.answers,
        )

    def write(self, folder: Path) -> None:
        """Write the simulation's files, as a run leaves them."""
        folder.mkdir(parents=True)
        (folder / PLAN).write_text(self.plan.model_dump_json(), encoding="utf-8")
        (folder / PROGRESS).write_text(json.dumps({"seconds": 48 * 3600.0}), encoding="utf-8")
        write_cast(folder, list(self.cast.values()))
        for name, memories in self.memories.items():
            with closing(Archive(folder / AGENTS / name / "archive")) as archive:
                for record in (*(each.to_record() for each in memories), *self.plan_lines[name]):
                    archive.append(record)
        events = folder / EVENTS
        events.mkdir(parents=True)
        known = {"v": 1, "t": BEGINS.isoformat()}
        lines = ({**known, "seq": n, **each} for n, each in enumerate(self.log, start=1))
        _write_lines(events / "events-2026-05-04-0000000001.jsonl", lines)
        _write_lines(folder / PRESENCE, self.presence)
        _write_lines(folder / INTERVIEW, self.answers)


def _write_lines(path: Path, lines: Iterable[Record]) -> None:
    path.write_bytes(b"".join(map(line_of, lines)))
