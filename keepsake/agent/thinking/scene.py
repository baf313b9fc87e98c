"""What one turn of an agent is made from: its memory, and what is around it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from keepsake.agent.attention import ANSWERED, EventKind, Impulse
from keepsake.agent.body import Body
from keepsake.agent.happenings import Basis, basis_of
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    exits_of,
    hosts_guests,
    identity_of,
    looks_of,
    options_of,
    people_near,
    place_of,
    things_near,
)
from keepsake.archive.privacy import NOBODY, Audience, in_confidence, is_private, outward
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.persona import open_lines
from keepsake.language.heard import heard, spoken
from keepsake.prompt.options import NAMING, Options
from keepsake.prompt.script import day, daytime
from keepsake.prompt.verbs import COMPACT, VERBS, Takes, Verb
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.related import Related, SearchResult, line_of, question
from keepsake.tasks.conversation import excerpt, in_order
from keepsake.tasks.deed import tools_of
from keepsake.tasks.fallback import FallbackLine, answer
from keepsake.tasks.talk import Talk
from keepsake.tasks.talk_scene import TalkScene

_WRITES = frozenset({"note", "journal", "pin", "remember"})
"""Verbs whose result stands in prompts that others hear: not offered where the prompt holds what
is for one person alone."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Whom a turn answers, and who hears it."""

    impulse: Impulse
    partner: str  # who is answered, by name; empty for nobody
    whispered: bool  # whether they whispered, so that the answer is whispered too
    audience: Audience  # who hears the answer: private words of others are left out
    words: str  # what is asked of recall: what they said since the last answer
    answered: bool = False  # whether an answer of before knew of all this already
    seen: int = 0  # the newest memory that the prompt showed; 0 while there is none


class SceneMaker:
    """Brings together what the turns of one agent are made from; on the reactor thread."""

    def __init__(self, mind: Remembering, runtime: Runtime) -> None:
        self._mind, self._runtime = mind, runtime

    def context_of(self, agent: Body, impulse: Impulse) -> TurnContext:
        """Whom a turn answers now, and who hears it."""
        if impulse.kind not in ANSWERED or not impulse.source:
            return TurnContext(impulse, "", False, NOBODY, "")
        said, known_of = unanswered(self._mind.memory.context().window, impulse)
        whispered = any(map(is_private, said))
        alone = frozenset({impulse.source_id} - {""})
        audience = alone if whispered else listeners(agent)
        answered = 0 < impulse.memory <= known_of
        return TurnContext(impulse, impulse.source, whispered, audience, _words(said), answered)

    async def relate(self, agent: Body, turn: TurnContext, by: str = "") -> SearchResult | None:
        """What recall brings for a turn; None if nothing came in time.

        ``by``: Who asks, for the event log; empty for the agent itself.
        """
        said = turn.words if turn.partner else ""
        here = [person.key for person in people_near(agent)]
        return await self._mind.keeper.recaller.search(
            said or question(self._mind.memory.context(), place_of(agent), here),
            scene=not (said or by),
            by=by or ("talk" if said else "thought"),
            audience=turn.audience,
            asker=turn.partner if said else "",
        )

    def is_whispered(self, agent: Body, turn: TurnContext, found: SearchResult | None) -> bool:
        """Whether an answer is whispered: to a whisper, and if others have come in since."""
        if turn.whispered or not turn.partner or not listeners(agent) - turn.audience:
            return turn.whispered
        private, window = self._mind.memory.private, self._mind.memory.context().window
        numbers = [memory.number for memory in window]
        numbers += [hit.document.first for hit in (found.memories if found else ())]
        return any(
            private.may_hear(n, turn.audience) and not private.may_hear(n, NOBODY) for n in numbers
        )

    def talk(
        self,
        agent: Body,
        turn: TurnContext,
        found: SearchResult | None,
        extra: Memory | None = None,
    ) -> tuple[Talk, Basis]:
        """The turn as it is now, and what its prompt is made from.

        Args:
            agent: The agent.
            turn: Whom it answers.
            found: What recall brought.
            extra: A memory that is shown as if it had just come, for builders.

        Raises:
            KeepsakeError: The memory or a template cannot be read.
        """
        runtime, keeper, memory = self._runtime, self._mind.keeper, self._mind.memory
        related, context = keeper.related(found), memory.context()
        # as those who hear the answer may know it
        may_know = in_confidence if runtime.people.current.in_confidence else outward
        window = memory.private.heard_by(context.shown, turn.audience, may_know)
        window = (*window, *([extra] if extra is not None else []))
        longterm, recent = context.longterm, context.recent
        scene = replace(
            self._around(agent, turn),
            **self._kept(turn, related, found),
            longterm=longterm.text if longterm else "",
            longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
            recent=recent.text if recent else "",
            recent_span=f"{recent.first} to {recent.last}" if recent else "",
            window=window,
            words=_still_waiting(window, turn),
            whispered=turn.whispered,
        )
        shown = scene.recalled or scene.experiences or scene.notes
        called = keeper.called_back if scene.called_back else ()
        basis = basis_of(context, related.hits if shown else (), called)
        prompts = runtime.prompts
        parts = (prompts.of("talk"), prompts.of("act"), prompts.transcript)
        return Talk(scene, *parts, runtime.tokens.each), basis

    def choices(self, agent: Body, turn: TurnContext) -> tuple[tuple[Verb, ...], Options]:
        """What the agent may do in this turn, and with what.

        One that is spoken to may leave a talk, but not its guests.
        """
        without = {COMPACT} if not self._runtime.compaction.current.on_agent else set[str]()
        if turn.whispered or self._mind.memory.private.shared_with(turn.audience):
            without |= _WRITES | ({"promise"} if turn.whispered else set())
        verbs = tuple(verb for verb in VERBS if verb.name not in without)
        return verbs, options_of(agent, stays=hosts_guests(agent) if turn.partner else None)

    def _kept(
        self, turn: TurnContext, related: Related, found: SearchResult | None
    ) -> dict[str, Any]:
        """What it keeps beside summaries and window, and what was found for this turn."""
        mind, summaries = self._mind, DocumentKind.SUMMARY
        experiences = (hit.document for hit in related.hits if hit.document.kind is summaries)
        kept: dict[str, Any] = {
            "recalled": _recalled(related, found, mind.memory.name),
            "experiences": tuple(map(line_of, experiences)),
            "notes": related.notes,
            "called_back": tuple(mind.keeper.remembered),
            "pinned": tuple(mind.keeper.pinned.shown),
        }
        if (brought := mind.keeper.recaller.context) is not None:
            return kept | {"context": brought}
        window = mind.memory.context().window
        about = turn.impulse.source_id if turn.partner else ""
        noticed = mind.memory.noticed_for(turn.audience, window[0].number if window else None)
        return kept | {"noticed": tuple(noticed), "journal": mind.diary.lines(about)}

    def _around(self, agent: Body, turn: TurnContext) -> TalkScene:
        """Who the agent is, and what is around it."""
        now, place = self._runtime.clock.now().astimezone(), agent.location
        verbs, options = self.choices(agent, turn)
        deeds = [verb for verb in verbs if verb.takes is not Takes.TEXT]
        naming = [verb for verb in deeds if verb.takes in NAMING]
        exits, ways = exits_of(agent), []
        for way in place.exits if place is not None else ():
            if way.key in exits:  # with where it leads: ``north to The Quay``
                there = getattr(way.destination, "key", "")
                ways.append(f"{way.key} to {there}" if there else str(way.key))
        return TalkScene(
            name=agent.key,
            persona=str(agent.db.profile or f"You are {agent.key}."),
            deeds=tuple(f"> {v.usage} ({v.help})" for v in deeds if v.takes not in NAMING),
            now=f"{day(now)}, {daytime(now)}, {now:%H:%M}",
            place=place_of(agent) or "nowhere",
            description=looks_of(agent, place),
            here=_shown(people_near(agent)),
            things=_shown(things_near(agent)),
            carried=_shown(agent.contents),
            exits=tuple(exits),
            ways=tuple(ways),
            people=self._people(agent, turn),
            options=options.usages(naming),
            partner=turn.partner,
            trigger=turn.impulse.trigger,
            # one example may have several lines
            examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
            commands=tuple(f"{v.usage}: {v.help}" for v in verbs),
            tools=tools_of(deeds, options),
        )

    def _people(self, agent: Body, turn: TurnContext) -> tuple[str, ...]:
        """What it knows of those who are here, as far as they may all hear it."""
        if self._mind.keeper.recaller.context is not None:  # another memory tells that
            return ()
        known, window = self._mind.acquaintances, self._mind.memory.context().window
        spoke = {memory.source_id for memory in window if memory.source_id}
        new = [
            f"{person.key}, whom you met just now"
            for person in people_near(agent)
            if identity_of(person) in spoke and known.book.loaded(identity_of(person)) is None
        ]
        lines = known.lines(agent, turn.audience)
        names = tuple(line.partition(",")[0] for line in new)
        return (*(line for line in lines if not line.startswith(names or "\n")), *new)


def unanswered(window: Sequence[Memory], impulse: Impulse) -> tuple[list[Memory], int]:
    """What somebody did or said of which no answer of the agent's knew yet, oldest first.

    Returns:
        That, and the newest memory that its last words to them knew of; 0 if it said nothing.
    """
    since = 0
    for memory in reversed(window):
        own = memory.kind is MemoryKind.ACT and memory.text.startswith(("say ", "whisper "))
        known = memory.to_id and memory.to_id == impulse.source_id
        if own and (known or memory.to == impulse.source):
            since = memory.answers or memory.number
            break
    said = [
        memory
        for memory in window
        if memory.number > since
        and (
            memory.number == impulse.memory
            or (memory.source == impulse.source and heard(memory) is not None)
        )
    ]
    return said, since


def listeners(agent: Body) -> Audience:
    """Who hears what is said aloud now."""
    return frozenset(identity_of(person) for person in people_near(agent))


def memory_of(hit: Hit, name: str) -> Memory:
    """What the index knows of a memory that was found."""
    found = hit.document
    own = found.speaker == name
    kind, source = (MemoryKind.ACT, "") if own else (MemoryKind.PERCEPTION, found.speaker)
    return Memory(found.first, found.time, kind, found.text, place=found.place, source=source)


def _words(said: Sequence[Memory]) -> str:
    return " ".join(each.words for each in map(heard, said) if each is not None)


def _still_waiting(window: Sequence[Memory], turn: TurnContext) -> str:
    """What the partner said and got no answer to, where the agent has done something since."""
    waiting = unanswered(window, turn.impulse)[0] if turn.partner else []
    ordered = in_order(window)
    last_act = max((at for at, m in enumerate(ordered) if m.kind is MemoryKind.ACT), default=-1)
    return _words(waiting) if waiting and ordered.index(waiting[-1]) <= last_act else ""


def _recalled(
    related: Related, found: SearchResult | None, name: str
) -> tuple[tuple[int, str], ...]:
    """Excerpts of the talks in which memories were found, the best first, each with its number."""
    around = {memory.number: memory for memory in (found.around if found else ())}
    lines, told = [], set[int]()
    for hit in related.hits:
        n = hit.document.first
        if hit.document.kind is not DocumentKind.MEMORY or n in told:
            continue
        near = [m for m in (n - 1, n, n + 1) if m in around and m not in told]
        told.update(near)
        text = excerpt([around[m] for m in near] or [memory_of(hit, name)])
        lines.append((n, text))
    return tuple(lines)


def _shown(objects: Sequence[Any]) -> tuple[str, ...]:
    """The names of people or things, each once, and of sleepers that they sleep."""
    return tuple(
        dict.fromkeys(
            f"{each.key} (asleep)" if getattr(each, "is_asleep", False) else str(each.key)
            for each in objects
        )
    )


def words_by_rule(
    agent: Body,
    turn: TurnContext,
    found: SearchResult | None,
    memory: MemoryComponent,
    random: Random,
) -> str:
    """Something fitting to say for the shipped 270M model, which hardly answers."""
    window = memory.private.heard_by(memory.context().window, turn.audience)
    hits = found.memories if found else ()
    scores = {hit.document.first: hit.score for hit in hits}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    for each in (*(memory_of(hit, agent.key) for hit in hits), *window):
        told = heard(each) if each.number < turn.impulse.memory else None
        if told is not None:
            score = scores.get(each.number, 0.0)
            lines.append(FallbackLine(told.words, told.who, each.number, score))
    kind = turn.impulse.kind
    return answer(
        turn.words,
        agent=agent.key,
        partner=turn.partner,
        said_before=[own.words for each in window if (own := spoken(each)) is not None],
        lines=lines,
        rng=Random(random.random()),
        arrival=kind is EventKind.ARRIVAL and not turn.words,
        given="something" if kind is EventKind.GIVEN and not turn.words else "",
    )
