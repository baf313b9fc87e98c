"""Which of the lines about typed words only ask about them: these tell nobody anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsake.archive.records import Memory
from keepsake.tracing.content import asked_in, told_in
from keepsake.tracing.typed.gathering import id_of, tells
from keepsake.tracing.typed.meant import Meant, MeantWay


def only_asked(found: Mapping[str, Sequence[Memory]], meant: Meant) -> frozenset[str]:
    """Return the happenings that only ask about typed words.

    Args:
        found: By key of an agent: its memories about what was typed.
        meant: What was typed.
    """
    said = {id_of(key, each): each.words for key, of in found.items() for each in of if tells(each)}
    return frozenset(id for id, words in said.items() if _asks(words, meant))


def without(
    found: Mapping[str, Sequence[Memory]], happenings: frozenset[str]
) -> Mapping[str, Sequence[Memory]]:
    """Return what was found without some happenings; all of it if nothing else told anybody."""
    rest = {
        key: [each for each in of if id_of(key, each) not in happenings]
        for key, of in found.items()
    }
    return rest if any(tells(each) for of in rest.values() for each in of) else found


def _asks(words: str, meant: Meant) -> bool:
    told = told_in(words)
    asked = asked_in(words)
    if not asked or not told:
        return bool(asked)
    return all(_is_asked(way, asked.casefold(), told.casefold(), meant) for way in meant.ways)


def _is_asked(way: MeantWay, asked: str, told: str, meant: Meant) -> bool:
    """Return whether most of a way is in the questions of a line, and not in what it tells.

    A single word may be what the rest of the line is about: *You know Zeb? He is in the mill.*
    """
    if len(way.words) + len(way.people) == 1:
        return False
    of_told = [word for word in way.words if meant.has(word, told)]
    of_all = {*of_told, *(word for word in way.words if meant.has(word, asked))}
    return len(of_told) * 2 < len(of_all)
