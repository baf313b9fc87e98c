"""Who lives in a simulated world, and where: the shipped agents, and as many more as are wanted.

Those who are made up follow from the seed alone. Their names are unlike each other and unlike
those of the shipped agents, so that nobody confuses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from game.simulation.visits import PEOPLE
from world.atlas import Atlas, Person, Thing


def atlas_for(atlas: Atlas, agents: int, seed: int) -> Atlas:
    """The world with ``agents`` agents: first those of its files, then made-up ones."""
    chosen = dict(list(atlas.people.items())[:agents])
    made = _made_up(atlas, agents - len(chosen), Random(f"inhabitants {seed}"))
    return only(atlas, {**chosen, **made})


def only(atlas: Atlas, people: dict[str, Person]) -> Atlas:
    """The world with these people alone; what others own lies where they would live."""

    def at_hand(thing: Thing) -> Thing:
        owner = atlas.people.get(thing.at)
        return (
            thing
            if owner is None or owner.id in people
            else thing.model_copy(update={"at": owner.home})
        )

    things = {key: at_hand(thing) for key, thing in atlas.things.items()}
    return replace(atlas, people=people, things=things)


def _made_up(atlas: Atlas, how_many: int, rng: Random) -> dict[str, Person]:
    taken = {person.name for person in atlas.people.values()}
    names = [name for name in PEOPLE["names"].split() if name not in taken]
    rng.shuffle(names)
    homes = sorted(atlas.places)
    people = (_person(name, rng.choice(homes), rng) for name in names[:how_many])
    return {person.id: person for person in people}


def _person(name: str, home: str, rng: Random) -> Person:
    trade, does = rng.choice(PEOPLE["trades"])
    speaks, talkative = rng.choice(PEOPLE["ways"])
    wants, age = rng.choice(PEOPLE["wants"]), rng.randint(19, 76)
    return Person(
        id=name.casefold(),
        name=name,
        home=home,
        look=f"A {trade} of about {age // 10 * 10}, busy and friendly.",
        talkativeness=talkative,
        profile=f"You are {name}, {age}, a {trade}. {does} {wants} {speaks}",
        examples=(
            f'Piet says to you, "Good day."\n~{name}> say Good day. I am {name}. | a new face',
        ),
        loves=(),
        ties={},
        day=tuple(_day(home, trade, rng)),
    )


def _day(home: str, trade: str, rng: Random) -> Iterator[Mapping[str, Any]]:
    """A day of work at home, with an errand, a meal and an evening among people."""
    errand = rng.choice(("quay", "orchard", "letter_office", "chapel_garden", "ferry_stage"))
    at, noon = rng.randint(9, 10), rng.choice(("12-13", "13-14"))
    work = [each.format(work=f"does a {trade}'s work") for each in PEOPLE["at_work"]]
    rest = PEOPLE["at_rest"]
    yield _hours("9-12", "square", rest, "market day")
    yield _hours(f"{at}-{at + 1}", errand, rest)
    yield _hours(noon, "kettle", rest)
    yield _hours(rng.choice(("18-20", "19-21")), rng.choice(("kettle", "square")), rest)
    yield _hours("7-22", home, work)


def _hours(at: str, room: str, does: Sequence[str], *when: str) -> Mapping[str, Any]:
    return {"at": at, "in": room, "when": [*when], "does": [*does]}
