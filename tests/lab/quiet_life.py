"""A simulation in which nobody plays and no model is asked: a life by rules alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from keepsake.archive.log import Archive
from keepsake.archive.privacy import WHISPER, is_private
from keepsake.archive.records import HEARSAY, SCENE, Memory, MemoryKind
from keepsake.lab.simulations.plan import START, Lab, SimulationPlan
from keepsake.lab.simulations.simulate import create, resumed, run
from keepsake.language.heard import DEED
from keepsake.paths import Places

TOM = "9999-20260101000000"
"""Who has done the deed: a player who is not there any more."""
WITNESS, SEEN = "Nell", "Tom brought Mira her blue cup back."
_IDLE = re.compile(r"(?m)^\*\*idle_interval\*\*: .*$")


@dataclass(frozen=True)
class QuietLife:
    """What was lived through: every agent's memories, by name."""

    memories: dict[str, tuple[Memory, ...]]

    @property
    def meetings(self) -> int:
        """Two who had a scene, or told each other something: once in six hours at most."""
        met = (
            (frozenset({name, memory.to}), memory.time.timestamp() // (6 * 3600))
            for name, memory in self._all()
            if memory.kind is MemoryKind.ACT and memory.event in (SCENE, HEARSAY) and memory.to
        )
        return len(set(met))

    def heard(self, words: str) -> dict[str, Memory]:
        """Who was told of it and had not seen it, with the first memory of that."""
        found: dict[str, Memory] = {}
        for name, memory in self._all():
            mine = memory.kind is MemoryKind.PERCEPTION and memory.event == HEARSAY
            if mine and words in memory.text and name != WITNESS:
                found.setdefault(name, memory)
        return found

    def leads_back(self, memory: Memory, words: str) -> bool:
        """Whether the chain of a memory goes from one to the next, back to who saw it."""
        links = [link.rpartition(" ") for link in memory.chain.split("; ")]
        lived = [self.memories[name][int(number) - 1] for name, _, number in links]
        own = lived[0].event == DEED and links[0][0] == WITNESS
        told = all(each.event == HEARSAY and words in each.text for each in lived[1:])
        return own and told and links[-1][0] == memory.source

    def whispered(self) -> int:
        """Hearsay that rests on private words."""
        told = [memory for _, memory in self._all() if memory.event == HEARSAY]
        secret = [m.text for _, m in self._all() if is_private(m) or m.event == WHISPER]
        words = {text.partition('"')[2].strip('"') for text in secret} - {""}
        return sum(any(each in memory.text for each in words) for memory in told)

    def _all(self) -> Iterator[tuple[str, Memory]]:
        return ((name, each) for name, lived in self.memories.items() for each in lived)


def begin(places: Places, name: str, agents: int, start: str = START) -> Lab:
    """A simulation of one hour, in which a deed was seen and a secret whispered at its end."""
    plan = SimulationPlan(name, agents=agents, hours=1, visitors=0, start=start)
    lab = create(places, plan)
    thinking = lab.vault / "config" / "thinking.md"
    thinking.write_text(_IDLE.sub("**idle_interval**: 86400", thinking.read_text()))
    run(lab)
    now, whisper = lab.plan().moment(3600.0), "My brother is dead, and nobody knows but you."
    with closing(Archive(lab.vault / "agents" / WITNESS / "archive")) as archive:
        number, seen = archive.last_number + 1, MemoryKind.PERCEPTION
        deed = Memory(number, now, seen, SEEN, event=DEED, importance=8)
        secret = Memory(number + 1, now, seen, f'Tom whispers to you, "{whisper}"', event=WHISPER)
        for memory in (deed, secret):
            archive.append_memory(replace(memory, source="Tom", source_id=TOM, place="The Kettle"))
    return lab


def go_on(places: Places, lab: Lab, hours: float) -> QuietLife:
    """Live so many hours in all."""
    run(resumed(places, lab.folder.name, hours=hours))
    return lived(lab)


def lived(lab: Lab) -> QuietLife:
    """What its agents have lived through."""
    memories = {}
    for folder in sorted((lab.vault / "agents").iterdir()):
        with closing(Archive(folder / "archive")) as archive:
            memories[folder.name] = tuple(archive.read(1, archive.last_number))
    return QuietLife(memories)
