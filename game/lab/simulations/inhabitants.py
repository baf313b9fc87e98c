"""Who lives in a simulated world: the shipped agents, and as many more as are wanted.

Those who are made up follow from the seed alone. Their names are unlike each other and unlike
those of the shipped agents, so that nobody is taken for somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from world.atlas import Atlas, Person, Thing

_ALL_NAMES = (
    "Aldous Anneke Barnaby Berit Caspar Cordula Dorrit Dunstan Edda Elspeth Fabian Fenella Gawain "
    "Greta Hobart Hulda Ingram Isolde Jasper Jolenta Kerstin Kilian Lavinia Leopold Magnus Minerva "
    "Nikolai Norbert Ottoline Osric Percival Petronella Quentin Quilla Rosamund Rupert Sabine "
    "Silas Tabitha Thaddeus Ulrike Urban Valentin Verity Wilfrid Winifred Xaver Xenia Ysolde York "
    "Zacharias Zelda Ambrose Agatha Benedict Brunhild Clement Celeste Dietrich Delphine Erasmus "
    "Euphemia Ferdinand Flora Gideon Ginevra Hartmut Hermia Ignatius Imogen Jeremias Josephine "
    "Konrad Katinka Lambert Leonora Mortimer Mathilda Nathaniel Nerissa Oberon Ophelia Philibert "
    "Philippa Quirin Roderick Rowena Septimus Sidonie Tobias Theodora Uriel Undine Vinzenz Viola "
    "Wendelin Wilma Yorick Yvette Zebedee Zora"
)
_NAMES = tuple(_ALL_NAMES.split())
_TRADES = (
    ("net mender", "You mend nets and can tell by a knot who tied it."),
    ("baker", "You bake before sunrise and give the burnt loaves to the gulls."),
    ("weaver", "You weave wool and remember people by the colour of their coats."),
    ("cooper", "You make barrels and tap everything to hear whether it is sound."),
    ("herbalist", "You gather herbs and know a tea for every complaint."),
    ("fiddler", "You play the fiddle and forget the time while you do."),
    ("carpenter", "You build boats and dislike anything that does not float."),
    ("letter writer", "You write letters for others and keep their secrets."),
    ("bee keeper", "You keep bees and tell them the news each evening."),
    ("potter", "You turn pots and count the cracked ones twice."),
)
_WAYS = (
    ("You speak slowly and leave pauses.", 0.3),
    ("You speak quickly and ask more than you answer.", 0.7),
    ("You speak in short, dry sentences.", 0.4),
    ("You like to speak in proverbs and make some of them up.", 0.6),
    ("You laugh easily and mean no harm by it.", 0.6),
)
_WANTS = (
    "You look for a brother who left on the ferry long ago.",
    "You want to see the far shore once.",
    "You owe somebody money and do not say whom.",
    "You want to learn a new song before the summer.",
    "You lost a silver button and ask everybody about it.",
    "You save for a little boat.",
)
_AT_WORK = (
    "{work}, and whistles at it",
    "puts a tool down and takes up another",
    "stands back to look at the work, and goes on",
    "counts what is done and what is left",
    "is at work, and hears nothing",
)
_AT_REST = (
    "sits down with a sigh that has been waiting",
    "listens to what the others have to say",
    "eats slowly, with both elbows on the wood",
    "looks about for a face to talk to",
)


def atlas_for(atlas: Atlas, agents: int, seed: int) -> Atlas:
    """The world with so many agents: first those of its files, then ones that are made up."""
    chosen = dict(list(atlas.people.items())[:agents])
    made = _made_up(atlas, agents - len(chosen), Random(f"inhabitants {seed}"))
    return only(atlas, {**chosen, **made})


def only(atlas: Atlas, people: dict[str, Person]) -> Atlas:
    """The world with these people alone; what others own lies where they would live."""

    def at_hand(thing: Thing) -> Thing:
        owner = atlas.people.get(thing.at)
        return thing if owner is None or owner.id in people else replace(thing, at=owner.home)

    things = {key: at_hand(thing) for key, thing in atlas.things.items()}
    return replace(atlas, people=people, things=things)


def _made_up(atlas: Atlas, how_many: int, rng: Random) -> dict[str, Person]:
    taken = {person.name for person in atlas.people.values()}
    names = [name for name in _NAMES if name not in taken]
    rng.shuffle(names)
    homes = sorted(atlas.places)
    people = (_person(name, rng.choice(homes), rng) for name in names[:how_many])
    return {person.id: person for person in people}


def _person(name: str, home: str, rng: Random) -> Person:
    trade, does = rng.choice(_TRADES)
    speaks, talkative = rng.choice(_WAYS)
    wants, age = rng.choice(_WANTS), rng.randint(19, 76)
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
    work = [each.format(work=f"does a {trade}'s work") for each in _AT_WORK]
    yield _hours("9-12", "square", _AT_REST, "market day")
    yield _hours(f"{at}-{at + 1}", errand, _AT_REST)
    yield _hours(noon, "kettle", _AT_REST)
    yield _hours(rng.choice(("18-20", "19-21")), rng.choice(("kettle", "square")), _AT_REST)
    yield _hours("7-22", home, work)


def _hours(at: str, room: str, does: Sequence[str], *when: str) -> Mapping[str, Any]:
    return {"at": at, "in": room, "with": "", "when": [*when], "does": [*does]}
