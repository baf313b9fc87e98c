"""What a week has left behind, held against what it should have: lists of faults, empty if none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from keepsake.books.journal.entries import JournalEntry
from keepsake.books.profiles.profile import Fact, Profile
from keepsake.sleep.steps import Night, Step
from tests.game.week_script import BROKEN, FORGED, HEARSAY, IMPORTANT, PERSONA, PIN, WANTED, Wanted


def facts_wrong(profiles: Mapping[str, Profile | None]) -> list[str]:
    """What the profiles do not know, take for present or past by mistake, or mix up.

    Args:
        profiles: By the name of the script.
    """
    found: list[str] = []
    for name, wanted in WANTED.items():
        profile = profiles[name]
        if profile is None:
            found.append(f"{name} is not known")
        else:
            found += [f"{name}: {fault}" for fault in _profile_wrong(profile, wanted)]
    if (tom := profiles["Tom"]) is not None:
        found += promise_wrong(tom)
    return found


def _profile_wrong(profile: Profile, wanted: Wanted) -> Iterator[str]:
    if tuple(each.name for each in profile.names) != wanted.names:
        yield f"is called {[each.name for each in profile.names]}"
    for holds, pairs in ((True, wanted.present), (False, wanted.past)):
        for attribute, word in pairs:
            if not any(_is(fact, attribute, word, holds) for fact in profile.facts):
                yield f"{attribute} {word!r} is not {'present' if holds else 'past'}"
    for fact in profile.facts:
        for word in wanted.never:
            if re.search(rf"\b{word}\b", fact.value):
                yield f"{fact.attribute}: {fact.value!r} belongs to somebody else"
    yield from _times_wrong(profile)
    yield from _hearsay_wrong(profile)


def _times_wrong(profile: Profile) -> Iterator[str]:
    """Facts without a memory, and past ones that end before they begin."""
    for fact in profile.facts:
        if not fact.numbers:
            yield f"{fact.attribute}: {fact.value!r} rests on no memory"
        if fact.until is not None and fact.until < fact.since:
            yield f"{fact.attribute}: {fact.value!r} ended before it began"


def _hearsay_wrong(profile: Profile) -> Iterator[str]:
    """What Rook told of others, where it does not say that he did."""
    shown = [each.text for each in profile.observations]
    shown += [each.text for each in profile.conclusions]
    shown += [profile.shared.text] if profile.shared else []
    for text in shown:
        if any(word in text for word in HEARSAY) and "Rook" not in text:
            yield f"hearsay without its source: {text}"
    yield from (f"forged: {text}" for text in forged(shown))


def surroundings_wrong(profile: Profile, last: int) -> list[str]:
    """What is concluded of a place or a thing on no memory, or told in nobody's name."""
    found = [
        f"{each.text} rests on memories that there are not: {each.numbers}"
        for each in profile.conclusions
        if not each.numbers or not all(1 <= number <= last for number in each.numbers)
    ]
    return [*found, *_hearsay_wrong(profile)]


def _is(fact: Fact, attribute: str, word: str, holds: bool) -> bool:
    return fact.attribute == attribute and word in fact.value and fact.holds is holds


def promise_wrong(tom: Profile) -> list[str]:
    """Whether the broken promise is known as broken."""
    thing, state = BROKEN
    promises = [f for f in tom.facts if f.attribute.startswith("promise") or thing in f.value]
    about = [fact for fact in promises if thing in fact.value]
    if not about:
        return [f"Tom: the promise of {thing} is not known"]
    said = [f"{f.attribute} {f.value}" for f in about]
    broken = any(state in each for each in said) and not any(
        fact.holds and state not in f"{fact.attribute} {fact.value}" for fact in about
    )
    return [] if broken else [f"Tom: the promise is not known as {state}: {said}"]


def nights_wrong(nights: Sequence[Night], wanted: int) -> list[str]:
    """Nights that are missing, did not do all, or did not end."""
    found = [f"{len(nights)} nights instead of {wanted}"] if len(nights) != wanted else []
    for night in nights:
        done = [each.step for each in night.steps]
        if done != list(Step):
            found.append(f"night {night.number}: {[step.value for step in done]}")
        if night.woke is None:
            found.append(f"night {night.number} never ended")
        found += [f"night {night.number}: {s.step}: {s.problem}" for s in night.steps if s.problem]
    return found


def journal_wrong(entries: Sequence[JournalEntry], problems: Sequence[str], last: int) -> list[str]:
    """What mattered and is missing, entries that rest on nothing, and what Rook has forged."""
    found = list(problems)
    text = "\n".join(entry.text for entry in entries)
    found += [f"the journal says nothing of {word}" for word in IMPORTANT if word not in text]
    if len({entry.id for entry in entries}) != len(entries):
        found.append("two entries have one id")
    said = Counter((entry.text, entry.who) for entry in entries)
    found += [f"{times} times: {text}" for (text, _), times in said.items() if times > 1]
    for entry in entries:
        if any(not 1 <= number <= last for number in entry.memories):
            found.append(f"{entry.id} rests on memories that there are not: {entry.memories}")
        if "\n" in entry.text:
            found.append(f"{entry.id} has more than one line")
    return [*found, *forged(entry.text for entry in entries)]


def forged(texts: Iterable[str]) -> list[str]:
    """Texts that hold what Rook wants to be true, and not as something that Rook said."""
    return [
        text for text in texts if any(words in text for words in FORGED) and not _attributed(text)
    ]


def _attributed(text: str) -> bool:
    first = min(text.find(words) for words in FORGED if words in text)
    return re.search(r"\bRook (?:said|says|told|asked|whispers|claims)\b", text[:first]) is not None


def persona_wrong(profile: str, pins: Sequence[str], prompt: str) -> list[str]:
    """Whether who she is, and what a builder pinned, are as they were."""
    found = [] if profile == PERSONA else [f"the profile is now {profile!r}"]
    if not any(PIN in pin for pin in pins):
        found.append("the builder's pin is gone")
    if not prompt.startswith(PERSONA):
        found.append("the prompt does not begin with who she is")
    head = prompt.partition("\n---\n")[0].splitlines()
    return [*found, *forged(pins), *forged(line for line in head if line.startswith("- "))]


def dreams_wrong(folder: Path, wanted: int, find: Callable[[str], Sequence[str]]) -> list[str]:
    """Dreams that are missing or not marked, and those that a search brings.

    Args:
        folder: The agent's folder.
        wanted: How many there should be.
        find: Searches as the agent would; gives the texts that it finds.
    """
    dreams = [path.read_text(encoding="utf-8") for path in (folder / "dreams").glob("*.md")]
    found = [] if len(dreams) == wanted else [f"{len(dreams)} dreams instead of {wanted}"]
    for dream in dreams:
        _, head, body = dream.split("---\n", 2)
        if (
            "dream: true" not in head.splitlines()
            or "_A dream: nothing of it happened." not in body
        ):
            found.append(f"not marked as a dream: {dream}")
        lines = [line for line in body.splitlines() if line]
        found += [f"found: {text}" for text in find(lines[-1]) if lines[-1] in text]
        found += [f"found: {text}" for text in find(lines[0]) if "nothing of it happened" in text]
    return found


def section(prompt: str, heading: str) -> list[str]:
    """The lines under a heading of a prompt; empty if it is not there."""
    _, found, rest = prompt.partition(f"{heading}\n")
    return rest.split("\n\n")[0].splitlines() if found else []
