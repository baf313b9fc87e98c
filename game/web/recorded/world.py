"""A world as its files have it: the folder of a simulation, a fork, or a world that is stopped.

Nothing is written into it. It may be written on meanwhile by whoever lives it: what is asked is
read again where a file has grown.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from game.lab.replays.lived import name_of
from game.web.api import lives
from game.web.api.lives import ArchiveAccess, Grounds, Inhabitant
from game.web.api.shapes import AgentRow, Overview, PromptView, TiersView, iso
from game.web.recorded.database import Objects, read_objects
from game.web.recorded.tallies import Tallies
from keepsake.archive.log import Archive, segment_sizes
from keepsake.archive.tiers import Tiers, load_tiers
from keepsake.books.notes import NoteBook
from keepsake.events.agent_names import Called, Names
from keepsake.index.agent_index import AgentIndex
from keepsake.index.follower import AgentSources
from keepsake.memory import MemoryContext
from keepsake.names import folder_name
from keepsake.paths import Places
from keepsake.prompt.tokens import Heuristic
from keepsake.recall.documents import Hit
from keepsake.recall.recall import MemorySearch, SearchRequest

_TOKENS = Heuristic()


@dataclass(frozen=True, slots=True)
class _Life:
    """An archive as it was read last, and how large it was then."""

    sizes: tuple[tuple[str, int], ...]
    archive: Archive
    tiers: Tiers

    @property
    def context(self) -> MemoryContext:
        state, window = self.tiers.state, tuple(self.tiers.window)
        return MemoryContext(state.longterm, state.recent, window, None, state.standing)


class RecordedWorld:
    """The world of these places; a :class:`game.web.api.source.WorldSource`.

    ``scratch`` is a folder for what is made of it: a copy of its database, indexes.
    """

    recorded = True

    def __init__(
        self, places: Places, title: str, scratch: Path, zone: tzinfo | None = None
    ) -> None:
        self._places, self._scratch = places, scratch
        self.title, self.zone = title, zone
        self._lock = threading.Lock()
        self._lives: dict[int, _Life] = {}
        self._indexes: dict[int, AgentIndex] = {}
        self._tallies = Tallies(places.events)
        self._seen: tuple[float, ...] | None = None
        self._there: tuple[Objects, Sequence[Inhabitant]]
        self._now_there()

    @property
    def events(self) -> Path:
        """The folder of its event log."""
        return self._places.events

    def now(self) -> datetime:
        """The time of its last event."""
        return self._tallies.last() or datetime.now(UTC)

    # -- all of them

    def overview(self, *, may_act: bool) -> Overview:
        """All agents at a glance; no model server is asked."""
        rows = tuple(self._row(each) for each in self.inhabitants())
        now = iso(self.now()) or ""
        return Overview(now=now, agents=rows, servers=(), log_problem="", may_act=may_act)

    def inhabitants(self) -> Sequence[Inhabitant]:
        """All agents, by name."""
        return self._now_there()[1]

    def grounds(self) -> Grounds:
        """The map."""
        return self._now_there()[0].grounds

    # -- one of them

    def row(self, number: int, *, may_act: bool) -> AgentRow:
        """One of them at a glance."""
        return self._row(self._agent(number))

    def _row(self, agent: Inhabitant) -> AgentRow:
        did, life = self._tallies.of(agent.number, agent.name), self._life(agent)
        newest = life.archive.read(life.archive.last_number, life.archive.last_number)
        return AgentRow(
            id=agent.number,
            name=agent.name,
            state="asleep" if did.asleep else "idle",
            asleep=did.asleep,
            place=(newest[0].place if newest else "") or agent.place,
            last_act=did.act,
            last_act_at=iso(did.acted_at),
            memories=life.archive.last_number,
            used=did.used,
            budget=did.budget,
            thoughts=did.answered,
            ended=did.ended,
            failed=did.failed,
            recent_ended=len(did.recent),
            recent_failed=sum(did.recent),
            problem=did.problem,
        )

    def prompt(self, number: int) -> PromptView:
        """Nothing is sent here: the event log has what was."""
        agent = self._agent(number)
        return PromptView(budget=self._tallies.of(number, agent.name).budget)

    def tiers(self, number: int) -> TiersView:
        """Which of its memories is where."""
        life = self._life(self._agent(number))
        window = sum(_TOKENS.of(each.line) for each in life.tiers.window)
        return lives.tiers(
            *(life.context, life.archive.last_number, life.context.compaction, window), _TOKENS.of
        )

    def life(self, number: int) -> ArchiveAccess:
        """Its archive."""
        agent = self._agent(number)
        life = self._life(agent)
        return ArchiveAccess(self.names(number), life.archive, life.context, life.sizes)

    def names(self, number: int) -> Names:
        """What it is called."""
        return Names((Called(self._agent(number).name),), number)

    def ranked(self, number: int, question: str, limit: int) -> Sequence[Hit] | None:
        """What its recall finds by words, over an index made anew in the scratch folder."""
        agent = self._agent(number)
        index = self._index(agent)
        index.follow(vectors=False)
        names = frozenset(each.name for each in self.inhabitants())
        search = MemorySearch(index.words, None, None, names=lambda: names, clock=self)
        found = search.search_each(question, [SearchRequest(limit)])
        return None if found is None else found[0]

    # -- what is kept of it

    def _agent(self, number: int) -> Inhabitant:
        return lives.inhabitant(number, self.inhabitants())

    def _life(self, agent: Inhabitant) -> _Life:
        folder = agent.folder / "archive"
        with self._lock:
            sizes = tuple(sorted(segment_sizes(folder).items())) if folder.is_dir() else ()
            known = self._lives.get(agent.number)
            if known is None or known.sizes != sizes:
                archive = Archive(folder, read_only=True)
                known = self._lives[agent.number] = _Life(sizes, archive, load_tiers(archive))
            return known

    def _index(self, agent: Inhabitant) -> AgentIndex:
        with self._lock:
            if agent.number not in self._indexes:
                notes = NoteBook(agent.folder / "notes")
                lived = AgentSources(agent.name, agent.folder / "archive", notes)
                folder = self._scratch / "index" / str(agent.number)
                self._indexes[agent.number] = AgentIndex(folder, lived, None, lambda _: None)
            return self._indexes[agent.number]

    def _now_there(self) -> tuple[Objects, Sequence[Inhabitant]]:
        """What is in the database, read again once that was written, and the agents by name."""
        with self._lock:
            if (stamp := _stamp(self._places.database)) != self._seen:
                objects = read_objects(self._places.database, self._scratch)
                self._there = objects, _inhabitants(objects, self._places.agents)
                self._seen = stamp
            return self._there


def _stamp(database: Path) -> tuple[float, ...]:
    """When it was written last, and what is not folded into it yet."""
    there = (database, database.with_name(f"{database.name}-wal"))
    return tuple(each.stat().st_mtime for each in there if each.exists())


def _inhabitants(objects: Objects, agents: Path) -> Sequence[Inhabitant]:
    there = [each for each in agents.iterdir() if each.is_dir()] if agents.is_dir() else []
    folders = {name_of(each).casefold(): each for each in there}
    found = (
        Inhabitant(number, name, place, folders.get(name.casefold(), agents / folder_name(name)))
        for number, name, place in objects.agents
    )
    return sorted(found, key=lambda each: each.name)
