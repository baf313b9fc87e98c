"""Deeds that a talk may have agreed on: what an agent could do with the things that were named.

A small model only talks. If what was said names a thing, a place or a command of the world, this
module finds the deeds that it may be about, by the names and aliases of the world's own objects.
Whether the agent agreed is for the model to say (:mod:`keepsake.tasks.questions.agreed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepsake.agent.agent_log import call_hook
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import people_near, persons_near
from keepsake.agent.surroundings.routes import persons_in_reach, place_names
from keepsake.agent.turns.abilities import available_verbs
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, Person, addressees_of
from keepsake.language.perception import names
from keepsake.prompt.verbs import SLOT, WORDS, Command, Options, Takes, Verb, bare_name
from keepsake.tasks.conversation import PAUSE
from keepsake.tasks.deed import read_deed

MOST_OFFERS = 3
"""The most deeds that the model is asked about after one answer; each takes a small model a second.
A talk names one thing, or a thing and a place."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A deed that a talk may have agreed on.

    Attributes:
        deed: The deed, as the agent would write it: ``give jar of honey to Tom``.
        needs: What the partner must do, told to them, as the agent cannot do the deed itself; empty
            if it can.
        place: Where a walk leads; empty for any other deed.
        errand: To whom a walk leads, who is to be told something; None for any other deed.
    """

    deed: str
    needs: str = ""
    place: str = ""
    errand: Person | None = None

    @property
    def goal(self) -> str:
        """The place or person to whom a walk leads; empty for any other deed."""
        return self.errand.name if self.errand is not None else self.place


def offers_of(
    agent: Body, turn: TurnContext, tools: MemoryTools, asked: str, said: str
) -> list[Offer]:
    """Return the deeds that an answer may have agreed to, at most :data:`MOST_OFFERS`.

    Args:
        asked: What the partner said.
        said: What the agent answered.
    """
    partner = turn.partner
    here = (each for each in people_near(agent) if partner and identity_of(each) == partner.id)
    who = next(here, None)
    if partner is None or who is None or not asked:
        return []
    verbs, options = available_verbs(agent, turn, tools)
    name = name_of(who, agent)
    lines = (
        *(f"give {thing} to {name}" for thing in _named(agent.contents, agent, f"{asked} {said}")),
        *_own_deeds(verbs, options, name, asked),
    )
    able = (line for line in lines if isinstance(read_deed(line, verbs, options), Command))
    offers = [Offer(line) for line in able]
    offers += _walks(agent, verbs, options, f"{asked} {said}")
    if not turn.whispered:
        offers += _errands(agent, asked)
    passed = _just_passed(turn, tools, partner)
    held = [each for each in who.contents if not passed.intersection(_names_of(each, agent))]
    offers += [
        Offer(f"take {thing} from {name}", f"To hand it over: give {thing} to {agent.key}")
        for thing in _named(held, agent, asked)
    ]
    needed: Mapping[str, str] = call_hook(agent, "deeds_needed", Mapping, {}, asked, who)
    offers += [Offer(str(deed), str(needs)) for deed, needs in needed.items()]
    return offers[:MOST_OFFERS]


def _named(things: Iterable[GameObject], agent: Body, words: str) -> Iterator[str]:
    """Yield the names of the things that the words name, by name, key or alias."""
    for thing in things:
        if any(names(words, each) for each in _names_of(thing, agent)):
            yield name_of(thing, agent)


def _names_of(thing: GameObject, agent: Body) -> tuple[str, ...]:
    """Return the names of a thing: the one that the agent knows, its key and its aliases."""
    return (name_of(thing, agent), str(thing.key), *map(str, thing.aliases.all()))


def _just_passed(turn: TurnContext, tools: MemoryTools, partner: Person) -> set[str]:
    """Return the names of the things that have just passed between the agent and its partner.

    That is since the words that are answered, or within this talk. A thing among them that the
    partner now holds was given by the agent, or by a deed of the world in its name.
    """
    found = set[str]()
    window = tools.memory.memory.context().window
    for memory in window:
        is_new = memory.time >= window[-1].time - PAUSE
        if not (is_new or 0 < turn.impulse.memory_number < memory.number):
            continue
        if isinstance(memory.what, Deed) and _is_between(memory, partner):
            found.update(memory.what.objects)
    return found


def _is_between(memory: Memory, partner: Person) -> bool:
    """Whether a deed was the agent's towards its partner, or the other way round."""
    to = addressees_of(memory.what)
    if memory.is_own:
        return any(each.is_same(partner) for each in to)
    return memory.actor is not None and memory.actor.is_same(partner) and ME in to


def _own_deeds(verbs: Sequence[Verb], options: Options, partner: str, words: str) -> Iterator[str]:
    """Yield the deeds of a game's own verbs and of ``follow`` that the words name.

    A verb with a thing or an exit is named by it, another one by the verb itself. A verb with free
    words is left out, because nobody has chosen them.
    """
    for verb in verbs:
        slots = SLOT.findall(verb.usage)
        if verb.takes is Takes.PERSON and names(words, verb.name):
            yield f"{verb.name} {partner}"
        if verb.takes is not Takes.OWN or WORDS in slots:
            continue
        filled: dict[str, str] = {}
        for slot in dict.fromkeys(slots):
            found = (each for each in options.filling(slot) if names(words, bare_name(each)))
            filled[slot] = partner if slot == "person" else next(found, "")
        things = [value for slot, value in filled.items() if slot != "person"]
        if all(things) if things else names(words, verb.name):
            usage = verb.usage
            for slot, value in filled.items():
                usage = usage.replace(f"<{slot}>", value)
            yield usage


def _walks(agent: Body, verbs: Sequence[Verb], options: Options, words: str) -> Iterator[Offer]:
    """Yield the walks to places that the words name. An agent does not leave its guests."""
    for place in sorted(place_names(agent) - {place_of(agent)}):
        deed = f"walk to {place}"
        if not names(words, bare_name(place)):
            continue
        if options.stays:
            yield Offer(deed, f"{agent.key} has guests, and does not leave them now.", place)
        elif isinstance(read_deed(deed, verbs, options), Command):
            yield Offer(deed, place=place)


def _errands(agent: Body, asked: str) -> Iterator[Offer]:
    """Yield the walks to people elsewhere whom the words name, to tell them something."""
    here = {each.id for each in persons_near(agent)}
    for person in persons_in_reach(agent):
        if person.id not in here and names(asked, person.name):
            yield Offer(f"walk to {person.name}", errand=person)
