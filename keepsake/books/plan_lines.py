"""Plans as lines: what a person or an agent writes, and what the file of plans holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from keepsake.books.aloud import ALOUD, aloud_in
from keepsake.books.plan import Plan, PlanState
from keepsake.errors import NoteRefused
from keepsake.happening import Person
from keepsake.language.perception import for_prompt, names, shorten
from keepsake.language.when import read_when

LONGEST_PLAN = 400
"""The most characters of what is meant to be done: an errand of four steps, or five, in words."""
_LONGEST_REASON = 120
"""The most characters of why a plan ended; the file's pattern reads up to 200."""
_LONGEST_NAME = 48
"""The most characters of the name of an unknown person, as in the file of promises."""
_MARKS = {
    " ": PlanState.OPEN,
    ">": PlanState.DOING,
    "x": PlanState.DONE,
    "X": PlanState.DONE,
    "-": PlanState.DROPPED,
    "!": PlanState.MISSED,
}
_MARK_OF = {state: mark for mark, state in reversed(_MARKS.items())}
"""The mark that is written for each state; people may write ``X``, too."""
_LINE = re.compile(
    r"^[-*] \[(?P<mark>[ >xX!-])\] (?P<said>\S.*?)"
    r"(?: \(plan (?P<number>\d{1,9})(?:, memory (?P<since>\d{1,9}))?"
    r"(?:, by (?P<key>[\w:.-]{1,60}))?(?:, only for (?P<private>[\w:.?, -]{0,200}?))?"
    rf"{ALOUD}"
    r"(?:; (?P<why>[^()]{1,200}))?\))?[ \t]*$"
)
"""A line of the file. The brackets at its end are the game's; a person need not write them."""
_CLOCK_TIME = re.compile(r"(?:(?:at|in|by|on) )?\d(?:.*\D)?\d{1,2}:\d\d(?!\d)|\d{1,2}:\d\d", re.I)
"""A part of a line that is meant as a time: it begins with a digit and has a clock time."""
_COLON = re.compile(r":(?=\s)")
"""The end of the conditions; no space follows the colon of a time."""
_AT = re.compile(r"^(?:at|in|by|on) (?=\D)", re.I)
"""A word before a place. Before a digit, it is part of a time: ``at 12:00``."""
_AT_END = re.compile(r"(?:\b(?:at|in|by|on)\s+)?(?:the\s+)?$", re.I)
"""What may stand before a place with a comma in its name, and belongs to the place."""
_WITH = re.compile(r"^(?:with|to|for) ", re.I)
"""A word before a person."""
_HERE = "here"
"""The word for the place where the agent is; one of the grammar, as ``now`` is for its time."""
_OWN_PLACE = re.compile(r"(?:^|, )at (?P<where>.+?)(?=, with |: )")
"""The place in a line that :attr:`Plan.line` wrote."""


def read_plan(
    text: str,
    now: datetime,
    places: Collection[str] = (),
    people: Iterable[Person] = (),
    here: str = "",
) -> Plan:
    """Return the plan that a line says: ``tomorrow 12:00, the Quay, Anneke: show her the ferry``.

    Args:
        text: The line. Time, place and person may be left out.
        now: The present time, with time zone.
        places: Names of known places.
        people: Known people; a name among them gets its identity.
        here: The name of the place where the agent is, which may be called ``here``.

    Raises:
        NoteRefused: It says nothing that is meant to be done, or a time that does not exist.
    """
    known = {each.name.casefold(): each for each in people}
    found = Plan(what="")
    head, what = _halves(text, now, (*places, _HERE) if here else places, known)
    for place in places:  # "Hale, Clocks Mended" is one part
        if "," in place and (at := head.casefold().find(_bare(place).casefold())) >= 0:
            found = replace(found, where=place)
            head = f"{_AT_END.sub('', head[:at])},{head[at + len(_bare(place)) :]}"
    parts = [each.strip() for each in head.split(",") if each.strip()]
    for part in parts if places else _with_place(parts, now, known):
        if here and not found.where and _bare(part).casefold() == _HERE:
            found = replace(found, where=here)
        else:
            found = _with_condition(found, part, now, places, known)
    company = found.what  # those besides the first person
    what = for_prompt(what.replace('"', "'").strip(" -*#>."))
    if not any(map(str.isalnum, what)):
        cure = "Write: plan tomorrow 12:00, <place>, <person>: <what you mean to do>"
        raise NoteRefused("The plan says nothing to do", cure)
    if len(what) > LONGEST_PLAN:
        told = f"That plan has {len(what)} characters, and a plan at most {LONGEST_PLAN}"
        raise NoteRefused(told, "Say its steps more briefly, or make two plans of them")
    if found.when and found.when.meeting and found.whom is None:
        who = found.when.meeting
        found = replace(found, whom=known.get(who.casefold(), Person(who)))
    return replace(found, what=f"{what}{company}")


def _halves(
    text: str, now: datetime, places: Collection[str], known: dict[str, Person]
) -> tuple[str, str]:
    """Split a line into its conditions and what is to be done; the first may be empty."""
    colon = _COLON.search(text)
    if colon is None:
        return "", text
    head = text[: colon.start()]
    # "tell Mira: the tide is in" has no condition before its colon.
    parts = [each.strip() for each in head.split(",")]
    readable = any(_is_condition(each, now, places, known) for each in parts)
    if not readable:
        _check_times(parts, now)
    return (head, text[colon.end() :]) if readable else ("", text)


def _check_times(parts: Iterable[str], now: datetime) -> None:
    """Refuse a part that is meant as a time and names none.

    Raises:
        NoteRefused: There is such a part.
    """
    wrong = (part for part in parts if _CLOCK_TIME.fullmatch(part) and not read_when(part, now))
    part = next(wrong, None)
    if part is not None:
        what = f"{shorten(part, 60)!r} is no day and hour of the calendar"
        raise NoteRefused(what, "Write them so: 2026-02-28 12:00, or tomorrow 12:00")


def _with_place(parts: Sequence[str], now: datetime, known: dict[str, Person]) -> Sequence[str]:
    """Return the parts of a line, the place among them marked as one, where no places are known.

    The order of a line tells it: of what is no time, the place stands before the person.
    """
    no_times = [at for at, part in enumerate(parts) if not read_when(part, now)]
    if len(no_times) < 2 or any(_AT.match(parts[at]) for at in no_times):
        return parts
    first = no_times[0]
    if _WITH.match(parts[first]) or _people_in(_bare(parts[first]), known.values()):
        return parts
    return [*parts[:first], f"at {parts[first]}", *parts[first + 1 :]]


def _is_condition(
    part: str, now: datetime, places: Collection[str], known: dict[str, Person]
) -> bool:
    """Whether a part of a line names a time, a place or a person."""
    bare = _bare(part)
    place = any(_is_named(each, bare) for each in places)
    with_word = _AT.match(part) or _WITH.match(part)
    return bool(place or with_word or bare.casefold() in known or read_when(part, now))


def _with_condition(
    plan: Plan, part: str, now: datetime, places: Collection[str], known: dict[str, Person]
) -> Plan:
    """Return the plan with the time, place or person that a part of its line names.

    A plan is with one person. Of several that a line names, the others are added to its words. So
    is what is neither a place nor a person that is known: "Oswin's shop" for another name of it.

    Raises:
        NoteRefused: It is meant as a time and names none.
    """
    bare = _bare(part)
    place = next((each for each in places if _is_named(each, bare)), "")
    if plan.when is None and not place and (when := read_when(part, now)) is not None:
        return replace(plan, when=when)
    if not plan.where and (place or (_AT.match(part) and bare.casefold() not in known)):
        return replace(plan, where=place or _AT.sub("", part, count=1).strip())
    _check_times([part], now)
    if plan.whom is not None and plan.whom.name.casefold() == bare.casefold():
        return plan  # "now, Bram, Bram: …" names who is visited as the place too
    named = _people_in(bare, known.values())
    if named:
        first, *others = named if plan.whom is None else [plan.whom, *named]
        company = "".join(f", with {each.name}" for each in others if each != first)
        return replace(plan, whom=first, what=f"{plan.what}{company}")
    if plan.whom is None:
        return replace(plan, whom=Person(for_prompt(bare)[:_LONGEST_NAME]))
    return replace(plan, what=f"{plan.what}, {for_prompt(part)}")


def _people_in(text: str, people: Iterable[Person]) -> list[Person]:
    """Return the people whom a text names, in its order; of ``Old Joss`` not ``Joss``, too."""
    found = [each for each in people if names(text, each.name)]
    whole = [x for x in found if not any(x != y and names(y.name, x.name) for y in found)]
    return sorted(whole, key=lambda each: text.casefold().find(each.name.casefold()))


def _is_named(place: str, bare: str) -> bool:
    """Return whether a part names a place: ``Hale Clocks Mended`` for "Hale, Clocks Mended"."""
    name = _bare(place).replace(",", "").casefold()
    return name == bare.replace(",", "").casefold()


def _bare(part: str) -> str:
    """Return a part without the word before it, and without its article."""
    part = _WITH.sub("", _AT.sub("", part, count=1), count=1).strip()
    return re.sub(r"^(?:the|a|an) ", "", part, flags=re.I)


# -- lines of the file


def line_of(plan: Plan) -> str:
    """Return the line of a plan in the file, with its mark and its facts in brackets."""
    facts = [f"plan {plan.number}"] if plan.number else []
    if plan.number:
        facts += [f"memory {plan.since}"] if plan.since else []
        facts += [f"by {plan.whom.id}"] if plan.whom and plan.whom.id else []
        if plan.private is not None:
            facts.append(f"only for {', '.join(sorted(plan.private))}")
        facts += [plan.aloud.fact] if plan.aloud is not None else []
    end = f" ({', '.join(facts)}{f'; {plan.why}' if plan.why else ''})" if facts else ""
    return f"- [{_MARK_OF[plan.state]}] {plan.line}{end}"


def plan_of(
    line: str,
    now: datetime,
    on_refused: Callable[[NoteRefused], None] = lambda _: None,
    people: Iterable[Person] = (),
) -> Plan | None:
    """Return the plan that a line of the file says; None if it is a person's own text.

    Args:
        now: The present time, with time zone, for a line that a person wrote.
        on_refused: Called with the reason why a line that looks like a plan is none.
        people: Known people, whom a line that a person wrote may name.
    """
    match = _LINE.match(line)
    if match is None:
        return None
    # The file knows no places: in a line of the game's own, "at Hale, Clocks Mended, with Ann"
    # says itself where the place ends.
    place = _OWN_PLACE.search(match["said"]) if match["number"] else None
    places = [place["where"]] if place else []
    try:
        plan = read_plan(match["said"], now, places, () if match["number"] else people)
    except NoteRefused as refused:
        on_refused(refused)
        return None  # a line of a person's own
    if plan.whom is not None and match["key"]:
        plan = replace(plan, whom=Person(plan.whom.name, match["key"]))
    private = match["private"]
    return replace(
        plan,
        number=int(match["number"] or 0),
        state=_MARKS[match["mark"]],
        since=int(match["since"] or 0),
        why=match["why"] or "",
        private=None if private is None else frozenset(re.split(r",\s*", private)) - {""},
        aloud=aloud_in(match),
    )


def clean_reason(why: str) -> str:
    """Return why a plan ended, short and without the brackets that end it in the file."""
    return shorten(for_prompt(why.translate(str.maketrans("()", "  "))), _LONGEST_REASON)
