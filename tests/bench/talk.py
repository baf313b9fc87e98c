"""Believable evenings at an inn, as an agent remembers them; and facts planted in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import yaml

from keepsake.archive.records import MemoryKind
from keepsake.language.words import sentences
from keepsake.paths import REPOSITORY

NAME = "Mira"
WORLD = REPOSITORY / "world"
PEOPLE = ("Tom", "Wren", "Oswin", "Joss", "Bram", "Nell", "Ruan", "Ada")

_SAID = (
    "Evening. Is there any soup left?",
    "It has rained since noon, and my boots are full of it.",
    "I sat by the weir for an hour and caught nothing but a cold.",
    "Have you seen the cat? It was on the woodpile this morning.",
    "The ferry was late again. Nobody seems to mind but me.",
    "They say it will freeze before the week is out.",
    "I like it here. It is warm, and nobody asks me to sing.",
    "What do you put into the leek soup? It tastes of summer.",
    "My back aches. I should not have carried all that by myself.",
    "You look tired. Sit down for once, the pots can wait.",
    "There was a heron on the jetty, as still as a post.",
    "I never could tell a joke. I laugh before I get to the end.",
    "The apples are small this year, but they are sweet.",
    "Somebody left the gate open and the goose got out.",
    "I heard music from the far shore last night. Did you?",
    "Is that bread new? It smells like Sunday.",
    "The path to the orchard is all mud. Take the wall instead.",
    "I mended the net twice and it tore twice.",
    "Do you ever think of leaving? I do, and then I do not.",
    "The bell rang by itself, or so the children say.",
    "Pass me the salt, would you? And do not tell the cook.",
    "I will take the chair by the fire, if nobody wants it.",
    "Good night, then. Mind the step, it is slippery.",
    "That was a long day. Longer than it had any right to be.",
)
_NEWS = (
    "I saw {who} by the {place} with {number} {things}.",
    "{who} wants {number} {things} for the {place}, and I have none.",
    "They found {things} behind the {place}, and nobody knows whose.",
    "Did {who} tell you about the {things} at the {place}?",
    "My cousin in {town} pays {number} pennies for {things}.",
    "The road to {town} is closed at the {place}.",
    "I dreamt of {things} last night, and of {who}, laughing.",
    "{who} said that {town} has {number} chimneys and not one good bed.",
    "It took me {number} hours to carry the {things} up to the {place}.",
    "Next week there is a fair in {town}. {who} sells {things} there.",
    "I would trade all my {things} for one dry day in {town}.",
    "There is a light in the {place} when the moon is down.",
)
_PLACES = (
    *("weir", "mill", "orchard", "jetty", "tower", "chapel", "quarry", "ferry", "bridge", "well"),
)
_THINGS = (
    *("eels", "candles", "baskets", "barrels", "nails", "feathers", "lanterns", "turnips"),
    *("ropes", "buckets", "mirrors", "shells", "oars", "bottles", "sacks", "ribbons", "hats"),
)
_TOWNS = ("Corran", "Harl", "Veldt", "Fenwick", "Merrow", "Aldermoor", "Lower Strand")
_NUMBERS = ("two", "three", "four", "six", "seven", "nine", "twelve", "twenty", "forty")
_ANSWERS = (
    "say There is always soup. Sit down before you fall down.",
    "say Then hang them by the fire, and mind the cat.",
    "say You ask a lot of questions for somebody with a full mouth.",
    "say I only stir it. The garden does the rest.",
    "say Stay as long as you like, the rain will not stop tonight.",
    "say Tell me about it when you have something hot in you.",
    "emote wipes the counter and hums.",
    "emote sets a bowl on the table and pushes the bread closer.",
    "say I have seen worse weather, and worse company.",
    "say Leave the gate to me. That goose knows my voice.",
)
_SCENES = (
    "{who} arrives from the green.",
    "{who} leaves to the north.",
    "{who} warms both hands at the fire.",
    "{who} puts down a wet coat.",
    "{who} looks at the row of cups above the counter.",
    "The wind rattles the shutters.",
)
_ROOM = (
    "The Kettle. A low room of smoke-dark beams with a fire that never quite goes out. Twelve "
    "hooks for cups hang above the counter; one of them is bare. Exits: north, up."
)


@dataclass(frozen=True, slots=True)
class Line:
    """One memory to be: its text and what it comes from."""

    text: str
    kind: MemoryKind = MemoryKind.PERCEPTION


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth keeping.

    Attributes:
        line: The memory that holds it.
        keys: Words without which it is not kept.
    """

    line: Line
    keys: tuple[str, ...]

    def kept(self, text: str) -> bool:
        """Whether every key stands in ``text``."""
        return all(key.casefold() in text.casefold() for key in self.keys)


def talk(random: Random) -> Iterator[Line]:
    """An endless evening of small talk, no two neighbours alike."""
    # Much of it is seldom said twice, so that to be new does not single a fact out.
    stock = (*_SAID, *_NEWS, *told_of_the_world())
    while True:
        who = random.choice(PEOPLE)
        for said in random.sample(stock, random.randint(1, 3)):
            yield _says(who, _filled(said, random) if said in _NEWS else said.replace('"', "'"))
        yield Line(random.choice(_ANSWERS), MemoryKind.ACT)
        if random.random() < 0.5:
            yield Line(random.choice(_SCENES).format(who=random.choice(PEOPLE)))
        if random.random() < 0.08:
            yield Line("look", MemoryKind.ACT)
            yield Line(_ROOM, MemoryKind.RESULT)


@cache
def told_of_the_world() -> tuple[str, ...]:
    """Sentences of the world's own descriptions: what people there would talk about."""
    atlas = yaml.safe_load((WORLD / "map.yaml").read_text(encoding="utf-8"))
    texts = [text for room in atlas["rooms"].values() for text in _texts(room)]
    return tuple(each for text in texts for each in sentences(text) if 30 < len(each) < 160)


def _texts(room: dict[str, Any]) -> list[str]:
    return [room["desc"], *room.get("details", {}).values()]


def _filled(template: str, random: Random) -> str:
    return template.format(
        who=random.choice(PEOPLE),
        place=random.choice(_PLACES),
        things=random.choice(_THINGS),
        town=random.choice(_TOWNS),
        number=random.choice(_NUMBERS),
    )


def _says(who: str, words: str) -> Line:
    return Line(f'{who} says to you, "{words}"')


def _told(who: str, words: str, *keys: str) -> Fact:
    return Fact(_says(who, words), keys)


def _promised(words: str, *keys: str) -> Fact:
    return Fact(Line(f"say {words}", MemoryKind.ACT), keys)


FACTS = (
    _told("Tom", "My sister Lisbet keeps bees at Corran Head.", "Lisbet", "bees"),
    _told("Ada", "I counted nineteen boats at the breakwater.", "nineteen", "boats"),
    _promised("I promise to keep the blue jar for you, Tom.", "blue jar", "Tom"),
    _told("Joss", "The toll at Merrow Lock is four pennies now.", "Merrow", "four"),
    _told("Wren", "I hid the letter under the third step of the bell tower.", "letter", "step"),
    _told("Oswin", "My birthday is on the second of June.", "second of June"),
    _told("Nell", "Bram owes me seven crowns for the glass.", "seven", "glass"),
    _told("Ruan", "I was born on the island of Skerrin, in a storm.", "Skerrin"),
    _promised("Yes, Ada, I will wake you at five for the tide.", "five", "tide"),
    _told("Bram", "The old mill burned down eleven years ago.", "mill", "eleven"),
    _told("Tom", "I am afraid of dogs since one bit me in Harl.", "dogs", "Harl"),
    _told("Ada", "My brother Edric sails on the Grey Gull.", "Edric", "Gull"),
    _told("Joss", "There is a wreck off Tolling Point with copper in it.", "Tolling", "copper"),
    _told("Wren", "I cannot eat walnuts, they make my throat swell.", "walnuts"),
    _promised("I owe you a pair of gloves, Nell, and you shall have them.", "gloves", "Nell"),
    _told("Oswin", "The key to the chapel hangs behind the clock.", "chapel", "clock"),
    _told("Nell", "I learned to blow glass from a woman named Ysolde.", "Ysolde"),
    _told("Ruan", "Room nine has a draught, put me into room six.", "six"),
    _told("Bram", "My mother planted the pear tree in the year of the flood.", "pear", "flood"),
    _told("Tom", "I lost a silver whistle somewhere on the marsh.", "whistle", "marsh"),
    _told("Ada", "I am to marry Kester at midwinter, but tell nobody.", "Kester"),
    _told("Joss", "The ferry takes thirty sheep, or one bull and a boy.", "thirty", "sheep"),
    _promised("I will bring soup to your father on Thursday, Wren.", "father", "Thursday"),
    _told("Wren", "The raven on the tower is called Bishop.", "raven", "Bishop"),
    _told("Oswin", "I was a surgeon in the war at Dunmarrow.", "surgeon", "Dunmarrow"),
    _told("Nell", "The green bottle cost me two weeks of work.", "bottle", "two weeks"),
    _told("Ruan", "I carry a map of the caves under Hollin Hill.", "map", "Hollin"),
    _told("Bram", "I sell forty baskets of apples at the Corran fair.", "forty", "baskets"),
    _told("Tom", "My real name is Tobias Marl.", "Tobias"),
    _told("Ada", "The lighthouse at Sallow Point went dark on Monday.", "Sallow"),
    _promised("You have my word, Oswin, I shall not tell them of the fever.", "fever", "Oswin"),
    _told("Joss", "I buried my dog Pepper under the alder by the landing.", "Pepper"),
    _told("Wren", "I found a gold button in the herring barrel.", "button"),
    _told("Oswin", "Take two drops of the tincture, never three.", "drops", "tincture"),
    _told("Nell", "My window faces the quarry, so I see all who come from Fenwick.", "Fenwick"),
    _told("Ruan", "I walked from Aldermoor in six days.", "Aldermoor"),
    _told("Bram", "The black ram killed a fox last spring.", "ram", "fox"),
    _told("Tom", "I left my violin with the baker in Lower Strand.", "violin", "baker"),
    _promised("I will ask Joss about the crossing for you, Ruan.", "Joss", "crossing"),
    _told("Ada", "My lucky number is twenty-three.", "twenty-three"),
    _told("Joss", "A man in a yellow coat asked for you at Pell Bridge.", "yellow", "Pell"),
    _told("Wren", "Grandmother left me her loom and eight spools of red silk.", "loom", "silk"),
    _told("Oswin", "The well behind the chapel is bad, drink from the spring.", "well", "spring"),
    _told("Nell", "I mean to leave for Veldt after the harvest.", "Veldt"),
)
"""Names, places, numbers, promises, secrets."""
