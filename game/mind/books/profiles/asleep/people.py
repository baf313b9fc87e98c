"""What the rules miss about people: a model reads again while the agent sleeps.

It is asked once for each person, and believed little: a fact must stand in the words of that
person, in a sentence about themselves; a conclusion may use no word that was not said. Without
a model what can be counted is concluded, and nothing else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from game.mind.archive.records import Memory
from game.mind.books.journal.entries import Importance
from game.mind.books.profiles.asleep.answers import MOST_NEW, STOP, THINKING, answered, thought
from game.mind.books.profiles.asleep.concluding import NamesOf, with_conclusions
from game.mind.books.profiles.asleep.surroundings import LEAST_LINES, MOST_LINES, study_surroundings
from game.mind.books.profiles.book import PeopleBook
from game.mind.books.profiles.changes import SINGLE, with_fact
from game.mind.books.profiles.profile import Conclusion, Fact, Profile, ProfileKind
from game.mind.language.facts import key_of
from game.mind.language.fit import LONGEST_VALUE, is_fit
from game.mind.language.fit import name as fit_name
from game.mind.language.heard import heard
from game.mind.language.patterns import pattern
from game.mind.language.perception import for_prompt, shorten
from game.mind.language.statements import statements
from game.mind.language.words import telling
from game.mind.sleep.asking import Ask
from game.mind.sleep.steps import Figures

LEFT = "left"
"""The figure that says of how many people nothing was asked, as the calls were spent; whoever
asks again gives the same memories once more."""
_ATTRIBUTES = (SINGLE - {"whereabouts"}) | {
    *("likes", "dislikes", "fears", "allergy", "skill", "owns", "brother", "sister", "son"),
    *("daughter", "friend", "dog", "cat", "horse"),
}
_ASKED = """\
Question: What did {name} say of themselves, and what may {own} think of them? Answer with one \
line for each and the numbers of the lines behind it, as in

work: shepherd [4]
think: Somebody is worried about the sheep [4, 9]

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
    """Work in what is missing, then go through whoever has said something new; blocks.

    Places and things come after all the people, with the calls that are left.

    Who is done is kept with each profile, so it may be broken off and begun again.

    Raises:
        NightOver: The agent has woken.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be written.
    """
    ask.check()
    figures = {"worked_in": book.take(memories, own_name, importance_of)}
    figures |= {"people": 0, "asked": 0, "facts": 0, "conclusions": 0}
    said, with_model = _said(memories), ask.available
    for light in book.all():
        if light.kind is not ProfileKind.PERSON or light.profile.studied >= light.profile.through:
            continue
        ask.check()
        lines = [m for m in said.get(light.key, ()) if m.number > light.profile.studied]
        if with_model and not ask.available and _worth_asking(lines):
            figures[LEFT] = figures.get(LEFT, 0) + 1  # the calls are spent: another night
            continue
        figures["asked"] += _worth_asking(lines) and ask.available
        new = _study(book, light.profile, lines[-MOST_LINES:], ask, own_name)
        figures["people"] += 1
        figures["facts"] += len(new.facts)
        figures["conclusions"] += len(new.conclusions)
    for name, count in study_surroundings(book, ask, own_name, with_model=with_model).items():
        figures[name] = figures.get(name, 0) + count
    return figures


def question(name: str, lines: Sequence[Memory], own_name: str) -> str:
    """The prompt: numbered lines, what is asked, and where the answer begins."""
    told = "\n".join(
        f"{m.number}. {for_prompt(said.who)}: {shorten(for_prompt(said.words), 200)}"
        for m in lines
        if (said := heard(m)) is not None
    )
    head = f"What {own_name} heard from {for_prompt(name)}:"
    return f"{head}\n\n{told}\n\n{_ASKED.format(name=for_prompt(name), own=own_name)}"


def understood(answer: str, lines: Sequence[Memory], name: str) -> Read:
    """What of a model's answer holds when it is compared with the lines that it was shown."""
    facts: list[Fact] = []
    thoughts: list[Conclusion | None] = []
    for what, text, cited in answered(answer, lines):
        if what in THINKING:
            thoughts.append(thought(text, cited, name))
        elif what in _ATTRIBUTES:
            facts += _facts(what, text, cited)
    return Read(tuple(facts[:MOST_NEW]), tuple(filter(None, thoughts))[:MOST_NEW])


def _said(memories: Sequence[Memory]) -> Mapping[str, list[Memory]]:
    said: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if (words := heard(memory)) is not None and is_fit(words.words):
            said[key_of(memory)].append(memory)
    return said


def _worth_asking(lines: Sequence[Memory]) -> bool:
    return len(lines) >= LEAST_LINES


def _study(
    book: PeopleBook, head: Profile, lines: Sequence[Memory], ask: Ask, own_name: str
) -> Read:
    """Learn what is new of one person, and keep how far that went."""
    read = Read()
    if ask.available and _worth_asking(lines):
        read = understood(ask(question(head.name, lines, own_name), STOP), lines, head.name)
    new = Read()

    def edit(profile: Profile) -> Profile:
        nonlocal new
        learned, new = _learned(profile, read, book.names_of)
        # As far as it went when the model was asked: more may have come meanwhile.
        return replace(learned, studied=max(profile.studied, head.through))

    book.change(head.key, edit)
    return new


def _learned(profile: Profile, read: Read, names_of: NamesOf) -> tuple[Profile, Read]:
    """The profile with what is new in ``read``, and what that was."""
    before = profile
    for fact in read.facts:
        profile = with_fact(profile, fact)
    profile, concluded = with_conclusions(profile, read.conclusions, names_of)
    added = [fact for fact in profile.facts if fact not in before.facts]
    return profile, Read(tuple(added), concluded)


def _facts(attribute: str, value: str, cited: Sequence[Memory]) -> list[Fact]:
    """A fact if its words stand in one statement that the speaker makes of themselves."""
    value = shorten(re.sub(r"[:;()\[\]]", " ", value).strip(" .,'"), LONGEST_VALUE)
    wanted = telling(value)
    if not wanted or not is_fit(value):
        return []
    for memory in cited:
        said = heard(memory)
        for statement in statements(said.words) if said is not None else ():
            if _says(attribute, statement) and wanted <= telling(statement):
                by = fit_name(said.who) if said else ""
                return [Fact(attribute, value, memory.time, None, (memory.number,), by)]
    return []


_SELF = re.compile(r"(?:I|I['’]\w+|my|we|our)\b", re.I)
_DENIED = re.compile(r"\b(?:not|never|no|nobody|neither|nor|hardly)\b|n['’]t\b", re.I)
_OF_THEIRS = re.compile(
    r"(?:my|our) (?:[\w-]+ )?(?P<who>brother|sister|mother|father|wife|husband|son|daughter|aunt"
    r"|uncle|cousin|grand\w+|friend|neighbour|master|child(?:ren)?|dog|cat|horse)\b",
    re.I,
)
_WITHOUT_DOING = re.compile(
    r"(?:I|we)(?: \w+ly| just| once| also)* (?:saw|see|met|meet|know|knew|like|love|hate|fear|want"
    r"|wish|need|hear|heard|think|believe|trust|miss|remember|dream|dreamt|promise|hope)\b",
    re.I,
)
"""What nobody does for a living."""
_SPOKEN_OF = {
    "home": r"live|lodg|dwell|stay|settle|moved|home|house|room",
    "spouse": r"wife|husband|married|wed",
    "betrothed": r"engaged|betrothed|promised to",
    "name": r"name|call",
    "age": r"years|winters|summers|old|turn|age|\d",
    "birthday": r"birthday|born",
    "origin": r"from|born|grew|raised|come",
    "plan": r"going|plan|intend|leav|will|want|soon|tomorrow|next",
    "likes": r"lik|lov|enjoy|ador|fond|prefer|favou?rite|delight|happiest",
    "dislikes": r"hat|dislik|detest|loath|despis|sick of|tired of",
    "fears": r"fear|afraid|scare|fright|terrif|dread",
    "allergy": r"allerg|ill|sick|swell|rash|itch",
    "skill": r"can|play|speak|learn|know how|good at|master|taught",
    "owns": r"own|have|['’]ve|got|bought|inherit|my|keep",
    "children": r"child|son|daughter|kid",
}
"""How people speak of each; of kin and beasts only by that word itself."""


def _says(attribute: str, statement: str) -> bool:
    """Whether ``statement`` may tell that of its speaker: "I hate eels" names no liking."""
    if not _SELF.match(statement) or _DENIED.search(statement):
        return False
    if theirs := _OF_THEIRS.match(statement):
        who = theirs["who"].casefold()
        return who == attribute or (attribute == "spouse" and who in ("wife", "husband"))
    if attribute == "work":
        return not _WITHOUT_DOING.match(statement)
    words = _SPOKEN_OF.get(attribute, rf"{re.escape(attribute)}\b")
    return pattern(rf"\b(?:{words})", re.I).search(statement) is not None
