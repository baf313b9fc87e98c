"""What an agent makes of people, places and things while it sleeps.

By rules, see :mod:`.concluding`, and by a model while calls are left. The model is asked once
for each profile of which enough is new, and believed little: of what it takes for a fact that
person's own sentence about themselves is kept; a conclusion may use no word that was not said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.archive.records import Memory
from keepsake.books.journal.entries import Importance
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.changes import with_fact
from keepsake.books.profiles.concluding import SPEAKER, has_form, with_conclusions
from keepsake.books.profiles.profile import Conclusion, Fact, Observation, Profile, ProfileKind
from keepsake.language.facts import SAID, as_said, key_of
from keepsake.language.fit import is_fit, line
from keepsake.language.fit import name as fit_name
from keepsake.language.heard import heard
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.statements import statements
from keepsake.language.words import listed, telling
from keepsake.sleep.asking import Ask
from keepsake.sleep.steps import Figures

LEFT, LATER = "left", "later"
"""Figures that say of how many people nothing was asked, as the calls were spent (whoever asks
again gives the same memories once more); and how many places and things wait for another night."""
MOST_LINES = 30
"""Lines that a model is shown of one profile: the newest."""
LEAST_LINES = 3
"""New lines that there have to be for a model to be asked."""
MOST_A_NIGHT = 24
"""Places and things that are gone through in one sleep."""
MOST_NEW = 4
"""Facts and conclusions of one answer that are kept, of each."""
LONGEST_THOUGHT = 160
_STOP = ("\n\n", "\nQuestion", "\n#")
_FIGURES = {ProfileKind.PERSON: "people", ProfileKind.PLACE: "places", ProfileKind.THING: "things"}

type Shown = Memory | Observation
"""Something that a model is shown under its number: what a person said, what was observed."""

_HEADS = {
    ProfileKind.PERSON: "What {own} heard from {name}:",
    ProfileKind.PLACE: "What {own} saw and heard in {name}:",
    ProfileKind.THING: "What {own} saw and heard of {name}:",
}
_ASKED_OF_PERSON = """\
Question: What did {name} say of themselves, and what may {own} think of them? Answer with one \
line for each and the numbers of the lines behind it, as in

work: shepherd [4]
think: Somebody is worried about the sheep [4, 9]

Answer:
"""
_ASKED = """\
Question: What may {own} think of {name}? Answer with one line for each thought and the numbers \
of the lines behind it, as in

think: The old mill seems busy [4, 9]

Answer:
"""


@dataclass(frozen=True, slots=True)
class Read:
    """What a model's answer came to, as far as it holds."""

    facts: tuple[Fact, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()


def update_profiles(
    book: PeopleBook,
    memories: Sequence[Memory],
    ask: Ask,
    own_name: str,
    importance_of: Callable[[Memory], Importance],
) -> Figures:
    """Work in what is missing, then go through whatever is new of anybody; blocks.

    Places and things come after all the people, with the calls that are left, those that were
    gone through longest ago first. Who is done is kept with each profile, so it may be broken
    off and begun again.

    Raises:
        NightOver: The agent has woken.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be written.
    """
    ask.check()
    figures = {"worked_in": book.take(memories, own_name, importance_of)}
    figures |= dict.fromkeys(("people", "asked", "facts", "conclusions", "places", "things"), 0)
    said, with_model = _said(memories), ask.available
    room, more = MOST_A_NIGHT, defaultdict[str, int](int)
    for head in _waiting(book):
        ask.check()
        person = head.kind is ProfileKind.PERSON
        profile = book.profile(head.key) if person or room else None
        if profile is None:
            more[LATER] += not room  # else its file cannot be read, and the book says so
            continue
        if person:  # as far as the memories go that are looked at here: more may come meanwhile
            profile = replace(profile, through=min(profile.through, head.through))
        lines = _new(profile, said)
        worth = len(lines) >= LEAST_LINES
        spent = worth and with_model and not ask.available
        more[LEFT if person else LATER] += spent
        if spent and person:
            continue
        figures["asked"] += worth and ask.available
        shown = lines[-MOST_LINES:] if worth and ask.available else ()
        changed, new = _study(book, profile, shown, ask, own_name, studied=not spent)
        room -= changed and not person
        figures[_FIGURES[profile.kind]] += person or changed
        figures["facts"] += len(new.facts)
        figures["conclusions"] += len(new.conclusions)
    return figures | {name: count for name, count in more.items() if count}


def question(profile: Profile, lines: Sequence[Shown], own_name: str) -> str:
    """The prompt: numbered lines, what is asked of them, and where the answer begins."""
    name, asked = for_prompt(profile.name), _ASKED
    if profile.kind is ProfileKind.PERSON:
        asked = _ASKED_OF_PERSON
    told = "\n".join(f"{each.number}. {_told(each)}" for each in lines)
    head = _HEADS[profile.kind].format(own=own_name, name=name)
    return f"{head}\n\n{told}\n\n{asked.format(own=own_name, name=name)}"


def understood(answer: str, lines: Sequence[Shown], profile: Profile) -> Read:
    """What of a model's answer holds when it is compared with the lines that it was shown."""
    facts: list[Fact] = []
    thoughts: list[Conclusion] = []
    for what, text, cited in _answered(answer, lines):
        if what in _THINKING:
            thoughts += _thought(text, cited, profile)
        else:
            facts += _facts(text, cited, profile)
    return Read(tuple(facts[:MOST_NEW]), tuple(thoughts[:MOST_NEW]))


# -- what is new


def _waiting(book: PeopleBook) -> list[Profile]:
    waiting = [each for each in book.all() if each.studied < each.through]
    others = (each for each in waiting if each.kind is not ProfileKind.PERSON)
    return [
        *(each for each in waiting if each.kind is ProfileKind.PERSON),
        *sorted(others, key=lambda each: (each.studied, each.key)),
    ]


def _said(memories: Sequence[Memory]) -> Mapping[str, list[Memory]]:
    said: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if (words := heard(memory)) is not None and is_fit(words.words):
            said[key_of(memory)].append(memory)
    return said


def _new(profile: Profile, said: Mapping[str, Sequence[Memory]]) -> list[Shown]:
    """What was said or observed since it was gone through, less what orders the agent about."""
    seen: Sequence[Shown] = [each for each in profile.observations if is_fit(each.text)]
    if profile.kind is ProfileKind.PERSON:
        seen = said.get(profile.key, ())
    return [each for each in seen if each.number > profile.studied]


def _told(each: Shown) -> str:
    if isinstance(each, Observation):
        return for_prompt(each.text)
    said = heard(each)
    return f"{for_prompt(said.who)}: {shorten(for_prompt(said.words), 200)}" if said else ""


def _study(
    book: PeopleBook,
    head: Profile,
    shown: Sequence[Shown],
    ask: Ask,
    own_name: str,
    *,
    studied: bool,
) -> tuple[bool, Read]:
    """Learn what is new, and keep how far that went; whether anything changed, and what is new."""
    read = new = Read()
    if shown:
        read = understood(ask(question(head, shown, own_name), _STOP), shown, head)

    def edit(profile: Profile) -> Profile:
        nonlocal new
        learned = profile
        for fact in read.facts:
            learned = with_fact(learned, fact)
        facts = tuple(fact for fact in learned.facts if fact not in profile.facts)
        learned, concluded = with_conclusions(learned, read.conclusions, book.names_of)
        new = Read(facts, concluded)
        # As far as it went when the model was asked: more may have come meanwhile.
        return replace(learned, studied=max(profile.studied, head.through if studied else 0))

    return book.change(head.key, edit), new


# -- what of an answer holds

_THINKING = ("think", "thought", "conclusion")
_LINE = re.compile(
    r"^\W*(?P<what>[A-Za-z ]{3,20}?)\s*:\s*(?P<text>\S.*?)\s*"
    r"[\[(](?:(?:line|memor)\w* )?(?P<numbers>\d[\d, ]*)[\])]\W*$"
)
_NUMBER = re.compile(r"\d{1,9}")
_MAY_ADD = telling(
    "worried glad sad angry afraid happy lonely proud kind honest friendly shy curious hopes wants "
    "needs misses cares seems trusts helpful generous restless tired seem trust worry proud "
    "somebody they them their about"
)
_MAY_ADD_OF_PLACE = _MAY_ADD | telling(
    "place here there busy quiet lively often usually dear precious wanted people guests"
)
"""Words that a conclusion may add of its own."""


def _answered(answer: str, lines: Sequence[Shown]) -> Iterator[tuple[str, str, list[Shown]]]:
    """What each line of an answer is about, its text, and what it cites: only what was shown."""
    by_number = {each.number: each for each in lines}
    for match in filter(None, map(_LINE.match, answer.splitlines()[: 4 * MOST_NEW])):
        numbers = sorted({int(number) for number in _NUMBER.findall(match["numbers"])})
        if numbers and by_number.keys() >= set(numbers):
            text = line(match["text"], LONGEST_THOUGHT)
            yield match["what"].strip().casefold(), text, [by_number[each] for each in numbers]


def _thought(text: str, cited: Sequence[Shown], profile: Profile) -> list[Conclusion]:
    """A conclusion if every word of it that says something stands in what it cites.

    What somebody only said or played does not become true by being said at a place.
    """
    person = profile.kind is ProfileKind.PERSON
    known = telling(profile.name).union(*(telling(each.text) for each in cited))
    strange = telling(text) - known - (_MAY_ADD if person else _MAY_ADD_OF_PLACE)
    if strange or len(telling(text)) < 2 or not is_fit(text) or has_form(text):
        return []
    talk = () if person else filter(None, (SPEAKER.match(each.text) for each in cited))
    if speakers := list(dict.fromkeys(fit_name(match["who"]) for match in talk)):
        text = f"As {listed(speakers)} said: {text}"
    numbers = tuple(each.number for each in cited)
    return [Conclusion(text, numbers, max(each.time for each in cited))]


_SELF = re.compile(r"(?:I|I['’]\w+|my|we|our)\b", re.I)


def _facts(value: str, cited: Sequence[Shown], profile: Profile) -> list[Fact]:
    """The sentence in which somebody said of themselves what the words of ``value`` say.

    What the rules have read in that memory already is not kept a second time.
    """
    wanted = telling(value)
    for memory in cited if wanted else ():
        said = heard(memory) if isinstance(memory, Memory) else None
        for statement in statements(said.words) if said else ():
            if not (said and _SELF.match(statement) and wanted <= telling(statement)):
                continue
            known = (f for f in profile.facts if memory.number in f.numbers)
            text = as_said(statement)
            if is_fit(text) and not any(telling(f.value) & wanted for f in known):
                by = fit_name(said.who)
                return [Fact(SAID, text, memory.time, None, (memory.number,), by)]
    return []
