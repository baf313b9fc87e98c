"""A blind interview: the answers of several simulations side by side, under letters.

A sheet has one agent's answers of one kind. Readers rank the letters of each sheet by how
believable the answers are. For each agent the simulations get other letters; the key is a file of
its own. The same answers always get the same letters, so the files can be made again.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Self

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.archive.transcript import about_memory
from keepsake.errors import KeepsakeError, refusing
from keepsake.files import replace_file
from keepsake.happening import Deed, Pose, Speech
from keepsake.lab.simulations.interview import KINDS, key_of
from keepsake.lab.simulations.record import SimulationRecord, text_of

PAGE = "interview.html"
KEY = "interview-key.json"
FORM = "rankings-{}.csv"
"""The page for readers, the key to its letters, and the form that a reader fills in. The form's
name has the digest of the answers, so that a filled one is never written over."""
SHEET = "sheet"
ANSWERS = "answers"
RANKING = "best to worst"
COLUMNS = (SHEET, ANSWERS, RANKING)
"""The columns of the form: the sheet, which answers it is for, and the reader's ranking."""
NO_ANSWER = "(no answer)"
MOST_LINES = 400
"""The most lines of an agent's life under a letter; the newest are shown."""


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """A question with the answers of all simulations, by letter."""

    question: str
    answers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BlindSheet:
    """One agent's answers of one kind."""

    id: str  # ``Bram memory``
    agent: str
    kind: str
    questions: Sequence[BlindAnswer]


@dataclass(frozen=True)
class BlindInterview:
    """The answers of several simulations under letters.

    Attributes:
        names: The names of the simulations, in the order in which they were given.
        letters: By agent: the name of the simulation of each letter.
        lives: By agent and letter: what others saw and heard of the agent, oldest first.
        left_out: Agents who were not asked in all simulations.
    """

    names: Sequence[str]
    sheets: Sequence[BlindSheet]
    letters: Mapping[str, Mapping[str, str]]
    lives: Mapping[str, Mapping[str, Sequence[str]]]
    left_out: Sequence[str] = ()

    @classmethod
    def of(cls, records: Sequence[SimulationRecord]) -> Self:
        """Lay simulations of the same agents into one interview, whatever their order.

        Raises:
            KeepsakeError: There are fewer than two, two have one name, or too many.
        """
        given = tuple(record.folder.name for record in records)
        records = sorted(records, key=lambda record: record.folder.name)
        names = sorted(given)
        if len(set(names)) != len(names) or not 2 <= len(names) <= len(ascii_uppercase):
            raise KeepsakeError("A blind interview needs two or more different simulations")
        asked = [_answers_of(record) for record in records]
        common = set.intersection(*(set(each) for each in asked))
        every = {key[0] for each in asked for key in each}
        agents = [name for name in records[0].names if any(key[0] == name for key in common)]
        letters: dict[str, Mapping[str, str]] = {}
        sheets = list[BlindSheet]()
        lives: dict[str, Mapping[str, Sequence[str]]] = {}
        for agent in agents:
            own = {key: [each[key] for each in asked] for key in common if key[0] == agent}
            order = _shuffled(len(records), agent, own)
            by_letter = dict(zip(ascii_uppercase, order, strict=False))
            letters[agent] = {letter: names[place] for letter, place in by_letter.items()}
            lives[agent] = {
                letter: life_of(records[place], agent) for letter, place in by_letter.items()
            }
            for kind in KINDS:
                questions = tuple(
                    BlindAnswer(
                        own[key][0][0],
                        {letter: own[key][place][1] for letter, place in by_letter.items()},
                    )
                    for key in sorted(own)
                    if key[1] == kind
                )
                if questions:
                    sheets.append(BlindSheet(f"{agent} {kind}", agent, kind, questions))
        return cls(given, tuple(sheets), letters, lives, tuple(sorted(every - set(agents))))

    @property
    def digest(self) -> str:
        """Ten characters that depend on all answers and their letters."""
        text = json.dumps(
            [[each.id, [[q.question, q.answers] for q in each.questions]] for each in self.sheets]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    @property
    def form(self) -> str:
        """The name of the file that readers fill in."""
        return FORM.format(self.digest)

    def write_key(self, folder: Path) -> None:
        """Write the key, and the empty form, which each reader copies and fills in.

        Raises:
            KeepsakeError: A file cannot be written.
        """
        key = {ANSWERS: self.digest, "letters": self.letters}
        with refusing(f"The key could not be written to {folder}", "Free some disk space"):
            replace_file(folder / KEY, json.dumps(key, indent=2, ensure_ascii=False) + "\n")
            form = folder / self.form
            if not form.exists():
                with form.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file)
                    writer.writerow(COLUMNS)
                    writer.writerows((sheet.id, self.digest, "") for sheet in self.sheets)


type _Answers = Mapping[tuple[str, str, int], tuple[str, str]]
"""By the key of a question: its text, and the answer."""


def _answers_of(record: SimulationRecord) -> _Answers:
    return {
        key_of(answer): (
            text_of(answer, "question"),
            text_of(answer, "words") or NO_ANSWER,
        )
        for answer in record.answers
        if text_of(answer, "kind") in KINDS
    }


def _shuffled(
    how_many: int, agent: str, answers: Mapping[tuple[str, str, int], list[tuple[str, str]]]
) -> list[int]:
    """Return the places of the simulations in an order that depends on the answers alone."""
    order = list(range(how_many))
    Random(repr((agent, sorted(answers.items())))).shuffle(order)
    return order


def life_of(record: SimulationRecord, agent: str) -> Sequence[str]:
    """Return what others could see and hear of an agent, so that a reader can judge its answers.

    Nothing that shows what the agent lacks: no tools, no reasons, and nothing private.
    """
    lines = (
        f"{memory.time:%A %H:%M}, {memory.place}: {_shown(memory, agent)}"
        for memory in record.memories[agent]
        if isinstance(memory.what, Speech | Deed | Pose)
        and not (is_private(memory) or about_memory(memory))
    )
    return tuple(lines)[-MOST_LINES:]


def _shown(memory: Memory, agent: str) -> str:
    return f"{agent}: {memory.text}" if memory.is_own else memory.line
