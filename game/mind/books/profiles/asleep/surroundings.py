"""What an agent concludes in its sleep about places and things.

First by rules, then by a model while calls are left. All that it needs stands in the profiles,
so nothing that has to wait for another night is lost meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from game.mind.books.profiles.asleep.answers import MOST_NEW, STOP, THINKING, answered, thought
from game.mind.books.profiles.asleep.concluding import SPEAKER, listed, with_conclusions
from game.mind.books.profiles.book import PeopleBook
from game.mind.books.profiles.profile import Conclusion, Observation, Profile, ProfileKind
from game.mind.language.fit import is_fit
from game.mind.language.fit import name as fit_name
from game.mind.language.perception import for_prompt
from game.mind.language.words import telling
from game.mind.sleep.asking import Ask

MOST_LINES = 30
"""Lines of one profile that a model is shown: the newest."""
LEAST_LINES = 3
"""New lines that there have to be for a model to be asked."""
MOST_A_NIGHT = 24
"""Places and things that are gone through in one sleep; the rest waits for the next."""
LATER = "later"
"""The figure that says how many places and things wait for another night."""

_ASKED = """\
Question: What may {own} think of {name}? Answer with one line for each thought and the numbers \
of the lines behind it, as in

think: The old mill seems busy [4, 9]

Answer:
"""
_MORE = frozenset(
    telling("place here there busy quiet lively often usually dear precious wanted people guests")
)
"""Words that a conclusion about a place or a thing may add of its own."""
_FIGURES = {ProfileKind.PLACE: "places", ProfileKind.THING: "things"}


def study_surroundings(
    book: PeopleBook, ask: Ask, own_name: str, *, with_model: bool
) -> dict[str, int]:
    """Go through the places and things of which something is new; blocks.

    Those that were gone through longest ago come first. Whatever a model was to be asked about
    when the calls were spent is concluded by rules alone, and asked about another night.

    Raises:
        NightOver: The agent has woken.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be written.
    """
    figures = {"places": 0, "things": 0, "asked": 0, "conclusions": 0}
    heads = [light.profile for light in book.all() if light.kind in _FIGURES]
    waiting = [head for head in heads if head.studied < head.through]
    later = done = 0
    for head in sorted(waiting, key=lambda each: (each.studied, each.key)):
        ask.check()
        profile = book.profile(head.key) if done < MOST_A_NIGHT else None
        if profile is None:
            later += done >= MOST_A_NIGHT  # else its file cannot be read, and the book says so
            continue
        worth = len(new := _new(profile)) >= LEAST_LINES
        spent = worth and with_model and not ask.available
        figures["asked"] += worth and ask.available
        thoughts = _asked(profile, new, ask, own_name) if worth and ask.available else ()
        changed, concluded = _keep(book, head, thoughts, studied=not spent)
        done += changed
        later += spent
        figures[_FIGURES[head.kind]] += changed
        figures["conclusions"] += concluded
    return {**figures, LATER: later} if later else figures


def question(profile: Profile, lines: Sequence[Observation], own_name: str) -> str:
    """The prompt: numbered lines, what is asked, and where the answer begins."""
    name = for_prompt(profile.name)
    told = "\n".join(f"{each.number}. {for_prompt(each.text)}" for each in lines)
    about = "in" if profile.kind is ProfileKind.PLACE else "of"
    head = f"What {own_name} saw and heard {about} {name}:"
    return f"{head}\n\n{told}\n\n{_ASKED.format(name=name, own=own_name)}"


def understood(answer: str, lines: Sequence[Observation], name: str) -> tuple[Conclusion, ...]:
    """The conclusions of a model's answer that hold; what rests on talk says whose talk it is."""
    found = [
        _attributed(drawn, cited)
        for what, text, cited in answered(answer, lines)
        if what in THINKING and (drawn := thought(text, cited, name, _MORE)) is not None
    ]
    return tuple(found[:MOST_NEW])


def _new(profile: Profile) -> list[Observation]:
    """What was observed since it was gone through last, without what orders the agent about."""
    fresh = (each for each in profile.observations if each.number > profile.studied)
    return [each for each in fresh if is_fit(each.text)]


def _asked(
    profile: Profile, new: Sequence[Observation], ask: Ask, own_name: str
) -> tuple[Conclusion, ...]:
    lines = new[-MOST_LINES:]
    return understood(ask(question(profile, lines, own_name), STOP), lines, profile.name)


def _attributed(drawn: Conclusion, cited: Sequence[Observation]) -> Conclusion:
    """What somebody only said or played does not become true by being said at a place."""
    speakers = [fit_name(m["who"]) for each in cited if (m := SPEAKER.match(each.text))]
    if not speakers:
        return drawn
    who = listed(list(dict.fromkeys(speakers)))
    return replace(drawn, text=f"As {who} said: {drawn.text}")


def _keep(
    book: PeopleBook, head: Profile, thoughts: Sequence[Conclusion], *, studied: bool
) -> tuple[bool, int]:
    """Write down what was concluded: whether that changed anything, and how much is new."""
    new: tuple[Conclusion, ...] = ()

    def edit(profile: Profile) -> Profile:
        nonlocal new
        learned, new = with_conclusions(profile, thoughts, book.names_of)
        # As far as it went when it was looked at: more may have come meanwhile.
        through = max(profile.studied, head.through if studied else 0)
        return replace(learned, studied=through)

    return book.change(head.key, edit), len(new)
