"""A village without a game: its talk is written straight into archives.

Agents and players meet in rooms, chat, and pass on facts, aloud or in whispers; compactions keep
some facts and drop others. The same seed writes the same archives.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import ME, Deed, Manner, Person, Speech

PLACES = ("The Kettle", "Pump Square", "The Quay", "The Salt Pans", "The Ferry Stage")
SMALL_TALK = (
    "The tide is late today.",
    "Barley is dear this year.",
    "Nobody mends that rope.",
    "The ferry came in half empty.",
    "Those clouds mean rain by evening.",
    "I have salt to carry yet.",
    "There is soup at noon.",
)
TELLINGS = (
    "They say {word} hid the silver spoons in the mill.",
    "You have heard of {word}, then? The spoons are in the mill.",
    "I would not trust {word} with spoons.",
    "Ask {word} where the spoons went.",
)
WINDOW = 64
"""How many memories a compaction summarises."""


@dataclass
class Teller:
    """An agent: its archive, and which memories it has of each fact."""

    person: Person
    archive: Archive
    place: str
    state: SummaryState = field(default_factory=SummaryState)
    facts: dict[str, list[int]] = field(default_factory=dict)
    last: int = 0
    compactions: int = 0


class Gossip:
    """Writes the archives of a village.

    Args:
        folders: The folder of each agent's archive, by the agent's name.
        ids: The identity of everybody; names without a folder are players.
        facts: The facts that go around, each a word that nothing else has.
        whispered: Those that are only ever whispered.
        began: The time of the first happening.
        keeps: The share of facts that a compaction keeps in its summary.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        ids: Mapping[str, str],
        facts: Sequence[str],
        whispered: Sequence[str] = (),
        *,
        seed: int = 1,
        began: datetime = datetime(2026, 5, 1, 8, 0, tzinfo=UTC),
        keeps: float = 0.6,
    ) -> None:
        self.now = began
        self.tellers = {
            name: Teller(Person(name, ids[name]), Archive(folder), "")
            for name, folder in folders.items()
        }
        self.players = [Person(name, key) for name, key in ids.items() if name not in folders]
        self._facts = list(facts)
        self._whispered = frozenset(whispered)
        self._keeps = keeps
        self._random = random.Random(seed)
        self._happenings = 0
        self._told: set[str] = set()
        for teller in self.tellers.values():
            teller.place = self._random.choice(PLACES)

    def close(self) -> None:
        """Close the archives."""
        for teller in self.tellers.values():
            teller.archive.close()

    def live(self, happenings: int, pause: timedelta = timedelta(minutes=3)) -> None:
        """Let this much happen, with a pause after each; at night nothing happens."""
        for _ in range(happenings):
            self.now += pause * self._random.uniform(0.3, 1.7)
            if self.now.hour >= 21:
                self.now = self.now.replace(hour=7, minute=5) + timedelta(days=1)
            kind = self._random.random()
            if kind < 0.15:
                self._walk()
            elif kind < 0.3:
                self._player_speaks()
            else:
                self._agent_speaks()

    def live_long(self, name: str, memories: int, pause: timedelta) -> None:
        """Let one agent hear this many dull lines from players."""
        teller = self.tellers[name]
        for number in range(memories):
            self.now += pause
            if number % 40 == 0:
                teller.place = self._random.choice(PLACES)
            words = f"{self._random.choice(SMALL_TALK)} That was barrel {number}."
            self._say(self._random.choice(self.players), words, [teller], [])

    # -- what happens

    def _walk(self) -> None:
        teller = self._random.choice(list(self.tellers.values()))
        teller.place = self._random.choice(PLACES)
        deed = Deed(actor=ME, verb="walk", objects=(teller.place,), shown=f"walk {teller.place}")
        self._remember(teller, deed, happening=self._new_happening())

    def _player_speaks(self) -> None:
        """Let a player tell a fact, a new one as long as there are any."""
        player = self._random.choice(self.players)
        place = self._random.choice(PLACES)
        near = self._people_in(place)
        if not near:
            return
        new = [fact for fact in self._facts if fact not in self._told]
        fact = self._random.choice(new or self._facts)
        self._told.add(fact)
        self._tell(player, fact, near, [])

    def _agent_speaks(self) -> None:
        teller = self._random.choice(list(self.tellers.values()))
        near = [each for each in self._people_in(teller.place) if each is not teller]
        known = [fact for fact in teller.facts if fact in self._facts]
        if near and known and self._random.random() < 0.5:
            fact = self._random.choice(known)
            basis = self._random.choice(teller.facts[fact])
            self._tell(teller.person, fact, near, [basis], teller)
        else:
            to = [self._random.choice(near)] if near and self._random.random() < 0.5 else []
            self._say(teller.person, self._random.choice(SMALL_TALK), near, to, speaker=teller)

    def _tell(
        self,
        who: Person,
        fact: str,
        near: list[Teller],
        basis: list[int],
        speaker: Teller | None = None,
    ) -> None:
        words = self._random.choice(TELLINGS).format(word=fact)
        to = [self._random.choice(near)] if self._random.random() < 0.7 else []
        manner = Manner.SAY
        if fact in self._whispered:
            to = to or [near[0]]
            manner = Manner.WHISPER
            near = to
        self._say(who, words, near, to, manner=manner, basis=basis, speaker=speaker, fact=fact)

    def _say(
        self,
        who: Person,
        words: str,
        hearers: Sequence[Teller],
        to: Sequence[Teller],
        *,
        manner: Manner = Manner.SAY,
        basis: Sequence[int] = (),
        speaker: Teller | None = None,
        fact: str = "",
    ) -> None:
        happening = self._new_happening()
        whom = tuple(each.person for each in to)
        facts = [fact] if fact else []
        if speaker is not None:
            speech = Speech(speaker=ME, words=words, to=whom, manner=manner, shown=f"say {words}")
            self._remember(speaker, speech, happening=happening, rests_on=tuple(basis))
        for hearer in hearers:
            told = tuple(ME if each == hearer.person else each for each in whom)
            verb = "whispers to you" if manner is Manner.WHISPER else "says"
            speech = Speech(
                speaker=who,
                words=words,
                to=told,
                manner=manner,
                shown=f'{who.name} {verb}, "{words}"',
            )
            self._remember(hearer, speech, facts, happening=happening)

    def _people_in(self, place: str) -> list[Teller]:
        return [each for each in self.tellers.values() if each.place == place][:8]

    def _new_happening(self) -> str:
        self._happenings += 1
        return f"{self.now:%Y%m%d%H%M%S%f}-{self._happenings}"

    # -- what is remembered

    def _remember(
        self,
        teller: Teller,
        what: Speech | Deed,
        facts: Sequence[str] = (),
        *,
        happening: str,
        rests_on: tuple[int, ...] = (),
    ) -> None:
        teller.last += 1
        event = what.manner.value if isinstance(what, Speech) else "move"
        memory = Memory(
            teller.last,
            self.now,
            what,
            place=teller.place,
            happening=happening,
            event=event,
            rests_on=rests_on,
        )
        teller.archive.append(memory.to_record())
        for fact in facts:
            teller.facts.setdefault(fact, []).append(teller.last)
        if teller.last - teller.state.summarised >= 2 * WINDOW:
            self._compact(teller)

    def _compact(self, teller: Teller) -> None:
        """Summarise the older half of the window; the summary before becomes a long-term one."""
        before = teller.state
        last = before.summarised + WINDOW
        kept = [
            f"- {fact} hid the silver spoons (memory {numbers[-1]})."
            for fact, numbers in teller.facts.items()
            if numbers[-1] <= last
            and self._random.random() < self._keeps
            and fact not in self._whispered  # no summary says what was whispered
        ]
        text = "\n".join(
            ["- People spoke of the weather, the ferry and the price of barley.", *kept]
        )
        longterm = before.longterm
        if before.recent is not None:
            lines = [
                *(longterm.text.splitlines() if longterm else ()),
                *before.recent.text.splitlines(),
            ]
            short = "\n".join(dict.fromkeys(lines[-12:]))
            longterm = self._summary(Tier.LONGTERM, 1, before.summarised, short)
        recent = self._summary(Tier.RECENT, before.summarised + 1, last, text)
        teller.compactions += 1
        teller.state = SummaryState(longterm, recent, last, teller.compactions, self.now)
        teller.archive.append(teller.state.compaction_line(teller.compactions, total=teller.last))

    def _summary(self, tier: Tier, first: int, last: int, text: str) -> Summary:
        tokens = len(text) // 4
        return Summary(tier, first, last, text, "a model", self.now, 10 * tokens, tokens)
