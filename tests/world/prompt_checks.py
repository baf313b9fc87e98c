"""Talks of several people in random order, and checks of each prompt against the archive.

Every line has a word of its own, such as ``w17``. So the order of the lines in a prompt, who
turned to the agent last, and whom its words were spoken to can be compared with the archive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

from keepsake.agent.agent_log import Sent
from keepsake.agent.attention.impulse import ANSWERED, Impulse
from keepsake.archive.records import Memory
from keepsake.happening import Manner, Person
from tests.fakes.model_server import Call, Reply
from tests.world.agents_world import is_consent, prompt_text
from tests.world.talk_world import TalkWorld

WORD = re.compile(r"\bw\d+\b")
_WAITS = re.compile(r"\[(\S+) (?:still )?waits for your answer(?:\.| to: )|\[You turn to (\S+) now")
_HIDDEN = re.compile(r"(\S+) whispers to you\.")
_PLAIN = re.compile(r"\[Your plain lines are spoken to (\S+)\.\]|\[(\S+) whispered to you")


@dataclass(frozen=True)
class Checked:
    """One prompt, and how it differs from the archive; empty if it does not."""

    number: int
    differs: tuple[str, ...]


class TalkInAnyOrder(TalkWorld):
    """Mira, and three people who speak, whisper, come and go while she answers."""

    SEED = 20261128

    def setUp(self) -> None:
        super().setUp()
        self.rng = Random(self.SEED)
        self.numbers = count(1)
        self.answers = Random(self.SEED)  # used by the thread of the model server
        self.fake.script = lambda _: self.answer()
        self.char2.location = None
        self.sent: list[Sent] = []
        log = self.mind.thinker.log
        begin = log.begin

        def remember(sent: Sent) -> None:
            self.sent.append(sent)
            begin(sent)

        log.begin = remember
        self.people = [self.char1, self.add_player(2, "Ilse"), self.add_player(3, "Bram")]

    # -- what happens

    def word(self) -> str:
        return f"w{next(self.numbers)}"

    def happen(self) -> None:
        """Let one thing happen: words, a whisper, a gesture, somebody comes or goes."""
        who = self.rng.choice(self.people)
        if who.location is not self.room1:
            who.execute_cmd("south")
            return
        others = [each for each in self.people if each is not who]
        other = self.rng.choice(others)
        whisper = f"whisper Mira = {self.word()} is a secret."
        line = self.rng.choices(
            [
                f"talk Mira {self.word()} asks something, does it?",
                f"say {self.word()} is for all.",
                whisper,
                f"talk {other.key} {self.word()} is for you.",
                f"pose waves {self.word()}.",
                "north",
            ],
            [8, 2, 2, 2, 1, 2],
        )[0]
        who.execute_cmd(line)

    def answer(self) -> str:
        """Return what the model answers: plain words, sometimes to somebody else too."""
        lines = [f"Here is {self.word()} for you."]
        here = [each for each in self.people if each.location is self.room1]
        if here and self.answers.random() < 0.3:
            lines.append(f"> talk {self.answers.choice(here).key} = And {self.word()} too.")
        if self.answers.random() < 0.3:
            lines.append(f"*nods {self.word()}*")
        if self.answers.random() < 0.2:
            lines.append(f"The end is {self.word()}.")
        return "\n".join(lines)

    def turns(self, number: int) -> Iterator[Checked]:
        """Let things happen until the model was asked ``number`` times; check each prompt."""
        asked = 0
        while asked < number:
            gate = self.hold_answers()
            for _ in range(self.rng.randint(1, 2)):
                self.happen()
                self.clock.advance(self.rng.choice((0.1, 0.5, 1.0)))
            self.clock.advance(3)
            self.settle(lambda: True)
            before = len(self.calls())
            for _ in range(self.rng.randint(0, 2)):  # while the answer is written
                self.happen()
            gate.set()
            self.fake.always("/api/chat", Reply())
            for _ in range(8):
                self.clock.advance(0.5)
                self.settle(lambda: not self.is_thinking())
                calls = self.calls()
                while asked + 1 <= len(calls) and asked < number:
                    yield self.check(calls[asked].body["messages"], asked)
                    asked += 1
            assert len(calls) >= before

    def calls(self) -> list[Call]:
        """Return the calls for answers, without questions about what may be told."""
        every = self.fake.calls("/api/chat")
        return [each for each in every if not is_consent(prompt_text(each.body))]

    # -- the checks

    def check(self, messages: list[dict[str, Any]], number: int) -> Checked:
        """Compare one prompt with the archive."""
        sent = next(each for each in self.sent if _text(messages) == _text_of(each))
        archive = self.memories()
        by_word = {word: m for m in archive for word in WORD.findall(m.text)}
        problems = [
            *_order_problems(messages, by_word),
            *_partner_problems(messages, by_word, sent.impulse),
            *_addressee_problems(messages, by_word),
        ]
        return Checked(number, tuple(problems))

    def memories(self) -> list[Memory]:
        archive = self.mind.memory.memory.archive
        return archive.read(1, archive.last_number)


def _text(messages: list[dict[str, Any]]) -> list[str]:
    return [str(each["content"]) for each in messages]


def _text_of(sent: Sent) -> list[str]:
    return [each.text for each in sent.request.messages]


def _window(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the lines of the window with their roles, without the notes in square brackets."""
    return [
        (each["role"], line)
        for each in messages[1:]
        for line in str(each["content"]).splitlines()
        if line.strip() and line.strip()[0] not in "[]" and not line.startswith((" ", "- "))
    ]


def _order_problems(messages: list[dict[str, Any]], by_word: dict[str, Memory]) -> Iterator[str]:
    """The lines of the window must be in the order of the archive, without gaps in public words."""
    shown = [word for _, line in _window(messages) for word in WORD.findall(line)]
    numbers = [by_word[word].number for word in shown]
    if numbers != sorted(numbers):
        yield f"order: {shown}"
    if shown:
        first = numbers[0]
        last = max(numbers)
        public = {w for w, m in by_word.items() if first <= m.number <= last and not m.confidants}
        if missing := public - set(shown):
            yield f"missing: {sorted(missing)}"


def _asker(line: str, by_word: dict[str, Memory]) -> Person | None:
    """Return who turned to the agent with a line of the window; None if nobody did."""
    if hidden := _HIDDEN.fullmatch(line):  # a whisper without its words
        whispers = (m.heard for m in by_word.values() if m.source == hidden[1])
        return next((said.speaker for said in whispers if said), None)
    found = WORD.findall(line)
    memory = by_word[found[0]] if found else None
    said = memory.heard if memory else None
    return said.speaker if said and said.is_to_me_or_all else None


def _partner_problems(
    messages: list[dict[str, Any]], by_word: dict[str, Memory], impulse: Impulse
) -> Iterator[str]:
    """The newest thing that is answered, the turn's partner and the rule for plain lines agree."""
    if impulse.kind not in ANSWERED:
        return
    last = str(messages[-1]["content"])
    if rule := _PLAIN.search(last):
        told = rule[1] or rule[2]
        if told != impulse.source:
            yield f"plain lines to {told}, partner {impulse.source}"
    if waits := _WAITS.search(last.splitlines()[-1]):
        newest = waits[1] or waits[2]
    else:
        window = _window(messages)
        askers = (each for _, line in reversed(window) if (each := _asker(line, by_word)))
        asker = next(askers, None)
        newest = asker.name if asker else impulse.source
        role = next((role for role, line in reversed(window) if WORD.search(line)), "user")
        if role == "assistant":
            yield "nothing is said of what is answered, and the newest line is the agent's"
    if newest != impulse.source and impulse.kind != "arrival":
        yield f"the newest is of {newest}, partner {impulse.source}"


def _addressee_problems(
    messages: list[dict[str, Any]], by_word: dict[str, Memory]
) -> Iterator[str]:
    """Own words are plain if they were spoken to who turned to the agent last; else addressed."""
    asker: Person | None = None
    for role, line in _window(messages):
        if role == "user":
            asker = _asker(line, by_word) or asker
            continue
        for word in WORD.findall(line):
            memory = by_word[word]
            said = memory.said
            if said is None or said.manner is not Manner.SAY or said.listener is None:
                continue
            plain = not line.startswith(">")
            if plain and asker is not None and said.listener.id != asker.id:
                yield f"{line!r} is plain, and was said to {said.to_name}"
            if not plain and f"> talk {said.to_name} = " not in line:
                yield f"{line!r} was said to {said.to_name}"
