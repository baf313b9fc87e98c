"""Whether what was told once still stands in other words: "never open the cellar" and the like.

Words decide: their stems, numbers, names, and above all whether they are denied. What stands there
in words of its own is not recognised, and stands there twice; so nothing is lost.
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from keepsake.language.details import counts, details, numbers
from keepsake.language.words import root
from keepsake.summaries.retelling import without_day


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EMPTY = _words("""
    a an the this that these those i me my mine you your yours he him his she her hers it its we us
    our ours they them their theirs is are was were be been being am do does did have has had will
    would shall should must may might can could of in on at by for with from as to into onto and or
    so here there just please very also too always now who which what let lets mr mrs ever any
    anybody anyone anything everybody everyone everything somebody someone something some such
    still yet if remember remembers memory
""")
"""Words that a constraint can lose and still say the same."""
_DENIALS = _words("""
    never not no nobody none nothing nowhere neither nor cannot cant dont wont mustnt shouldnt
    without forbid forbids forbidden forbade ban bans banned prohibit prohibits prohibited avoid
    avoids avoided refuse refuses refused forget forgets forgot forgotten fail fails failed
""")
_FIRM_WORDS = _words("""
    before after until unless except without only left right north south east west more less
""")
"""Small words that turn a rule into another one."""
_SPLIT = re.compile(
    r"[,;:—–()\[\]\"“”]|\b(?:but|because|unless|until|without|except|while|whereas|although|though)\b"
    r"|\b(?:and|or|then)\b(?=\s+(?:\w+\s+)?(?:never|not|do not|don['’]t|no)\b)",
    re.I,
)
_APART = 0.8
"""The least share of the words that must stand beside the ones they stood beside."""
_KEEPS = _words("unless until without except")
_AWAY = re.compile(
    r"\b(?:stay|stays|keep|keeps|kept|stayed)\b((?:\s+\w+){0,2}?)\s+(?:out|away|clear|off)\b"
    r"|\boff[- ]limits\b|\bleave\b(?=[^.!?]{1,40}\balone\b)",
    re.I,
)
_BORDER = "\t"
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNIT = re.compile(r"(?<=[.!?…])[\"”’')\]]*\s+|\n+")
_REFERENCE = re.compile(r"\s*\((?:memor(?:y|ies)\s+[\d, –-]+|repeated \d+×)\)")
_HEAD = re.compile(
    r"^(?P<head>[^:.!?\"“]{0,60}\b(?P<verb>told|promised|asked|asks|waits|waiting|owe|owes|said)\b"
    r"[^:.!?\"“]{0,40}):\s*(?P<body>.+)$",
    re.S,
)
_ROLES = frozenset(map(root, _words("ask tell owe give lend pay sell")))
"""What one does to another: it matters who comes before it."""
_DATES = frozenset(map(root, " ".join((*day_name, *month_name)).casefold().split()))


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence, taken apart."""

    text: str
    # for each stem and number whether it is asserted (True), denied, or both
    signs: dict[str, frozenset[bool]]
    clauses: tuple[frozenset[str], ...]  # the stems of each part that one "not" reaches
    order: tuple[str, ...]  # names, and verbs between two people, in the order in which they come
    question: bool
    # stems of its line close by: the sentence itself and its neighbours
    around: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ConstraintMatch:
    """How far a sentence says what a constraint says."""

    coverage: float  # share of the constraint's stems that stand in it, asserted or denied alike
    firm: bool  # nothing of it stands in another order, apart, or as a question
    contrary: float  # share of the stems that are in both and are denied in only one of them
    complete: bool  # all its stems stand in the sentence, whether denied or not


@dataclass(frozen=True, slots=True)
class Constraint:
    """One sentence of what has to be kept, taken apart."""

    text: str  # all of what is to be kept, word for word
    unit: Unit
    # names of the one it was promised to or asked by; to be named close by
    person: frozenset[str] = frozenset()


class Seen:
    """Everything that an agent sees, sentence by sentence, to be searched for constraints."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = list(lines)
        self._whole = "\n".join(map(_plain, lines))
        self.units = tuple(unit for line in lines for unit in units(line))
        self._where: dict[str, list[int]] = defaultdict(list)
        for index, unit in enumerate(self.units):
            for stem in unit.signs:
                self._where[stem].append(index)

    def verbatim(self, constraint: Constraint) -> bool:
        """Whether its whole text stands there word for word, as sentences of their own.

        "Open the door" does not stand in "never open the door".
        """
        plain = _plain(constraint.text)
        return bool(plain.strip(_BORDER)) and plain in self._whole

    def near(self, constraint: Constraint, most: int) -> list[Unit]:
        """The sentences that share the most of its words, best first; none without any."""
        shared: dict[int, int] = defaultdict(int)
        for stem in constraint.unit.signs:
            for index in self._where.get(stem, ()):
                shared[index] += 1
        best = sorted(shared, key=lambda index: (-shared[index], index))
        return [self.units[index] for index in best[:most]]


def read_constraint(text: str) -> tuple[Constraint, ...]:
    """Take a constraint apart: ``Ada told you: never open the cellar door (memory 17)``.

    Returns:
        One for each sentence that says something, each with the whole ``text``; one that
        no sentence can keep if there is none. All of them have to be kept.
    """
    bare = _REFERENCE.sub("", text).strip()
    head = _HEAD.match(bare)
    named = _names(bare)
    person: frozenset[str] = frozenset()
    if head and head["verb"].casefold() not in ("told", "said"):
        person = _names(f"so {head['head']}")
    found: list[Constraint] = []
    for part in split_sentences(head["body"] if head else bare):
        unit = _unit(part, named - _DATES | _ROLES)
        if unit.signs:
            found.append(Constraint(text, unit, frozenset() if found else person))
    return tuple(found) or (Constraint(text, _unit("")),)


@lru_cache(maxsize=2048)
def units(line: str) -> tuple[Unit, ...]:
    """The sentences of ``line``, those inside of quotes apart; kept for the next compaction."""
    plain = [_unit(part) for part in split_sentences(line)]
    near = (plain[max(index - 1, 0) : index + 2] for index in range(len(plain)))
    around = (frozenset(stem for each in some for stem in each.signs) for some in near)
    return tuple(replace(one, around=each) for one, each in zip(plain, around, strict=True))


def split_sentences(line: str) -> list[str]:
    """The sentences of ``line``, those inside of one pair of quotes apart as well.

    The day of a line of a summary is no part of what it says.
    """
    parts = _UNIT.split(_REFERENCE.sub("", line))
    return [without_day(part) for part in parts if part.strip()]


def compare(constraint: Constraint, unit: Unit) -> ConstraintMatch:
    """How far ``unit`` says what ``constraint`` says, by words."""
    wanted = constraint.unit.signs
    shared = wanted.keys() & unit.signs.keys()
    agreed = {stem for stem in shared if wanted[stem] & unit.signs[stem]}
    return ConstraintMatch(
        coverage=len(agreed) / max(len(wanted), 1),
        firm=_firmly(constraint, unit, agreed),
        contrary=(len(shared) - len(agreed)) / max(len(shared), 1),
        complete=len(shared) == len(wanted) and not unit.question,
    )


def _firmly(constraint: Constraint, unit: Unit, agreed: set[str]) -> bool:
    if not constraint.person <= unit.around:
        return False
    if unit.question and not constraint.unit.question:
        return False
    if _together(agreed, constraint.unit, unit) < _APART * len(agreed):
        return False
    order = constraint.unit.order
    return len(order) < 2 or order == _order(unit.text, frozenset(order))


def _together(agreed: set[str], wanted: Unit, unit: Unit) -> int:
    """How many of the ``agreed`` stems stand together as they should.

    Of "the well is bad, drink from the spring", well and bad belong together.
    """
    parts = [clause for clause in wanted.clauses if len(clause) > 1]
    if len(parts) < 2 or len(unit.clauses) < 2:
        return len(agreed)
    best = (max(len(agreed & part & other) for other in unit.clauses) for part in wanted.clauses)
    return min(sum(best), len(agreed))


def _unit(text: str, names: frozenset[str] = frozenset()) -> Unit:
    """One sentence, taken apart: each telling stem and number, and whether it is denied."""
    signs: dict[str, frozenset[bool]] = {}
    clauses: list[frozenset[str]] = []
    for clause in _clauses(_AWAY.sub(r" not \1 ", text)):
        low = [word.casefold().replace("’", "'") for word in _WORD.findall(clause)]
        sign = sum(map(_denies, low)) % 2 == 0
        stems = frozenset(map(root, filter(_tells, low)))
        if any(map(counts, low)):
            stems |= {each.keys[0] for each in numbers(clause)}
        clauses.append(stems)
        for stem in stems:
            signs[stem] = signs.get(stem, frozenset()) | {sign}
    asks = text.rstrip("\"”' )").endswith("?")
    return Unit(text, signs, tuple(filter(None, clauses)), _order(text, names), asks)


def _clauses(text: str) -> Iterator[str]:
    """The parts of a sentence that one "not" reaches."""
    start = 0
    for match in _SPLIT.finditer(text):
        yield text[start : match.start()]
        # "without a lamp", "until dawn": the word belongs to what follows it.
        start = match.start() if match[0].casefold() in _KEEPS else match.end()
    yield text[start:]


def _denies(word: str) -> bool:
    return word in _DENIALS or word.endswith("n't")


def _tells(word: str) -> bool:
    if word in _FIRM_WORDS:
        return True
    empty = word in _EMPTY or word.partition("'")[0] in _EMPTY
    return not (empty or _denies(word) or (word != "second" and counts(word)))


def _names(text: str) -> frozenset[str]:
    found = details([text]).values()
    return frozenset(root(part) for each in found if not each.number for part in each.keys)


def _order(text: str, names: frozenset[str]) -> tuple[str, ...]:
    """The ``names`` in ``text`` in the order in which each comes first."""
    if not names:
        return ()
    stems = dict.fromkeys(root(word.casefold()) for word in _WORD.findall(text))
    return tuple(stem for stem in stems if stem in names)


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    """The words of each sentence, so that blanks, case and quotes do not matter."""
    parts = (" ".join(_WORD.findall(part.casefold())) for part in split_sentences(text))
    return f"{_BORDER}{_BORDER.join(filter(None, parts))}{_BORDER}"
