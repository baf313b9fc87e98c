"""Builders see whom and what an agent knows, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from evennia.utils.ansi import strip_ansi

from commands.building import figures
from commands.building.base import BuilderCommand, ago, plain, shortened, table
from commands.wording import counted, plural
from keepsake.agent.memory.acquaintances import Acquaintances
from keepsake.agent.services import services
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.feelings import closeness, feeling
from keepsake.books.profiles.profile import Fact, Profile, ProfileKind
from keepsake.errors import KeepsakeError

MOST = 300
_KINDS = {"": ProfileKind.PERSON, "places": ProfileKind.PLACE, "things": ProfileKind.THING}
_NOUNS = {ProfileKind.PERSON: "people", ProfileKind.PLACE: "places", ProfileKind.THING: "things"}


class CmdPeople(BuilderCommand):
    """See whom an agent knows, and what it knows of them.

    Usage:
      @people <agent>              everybody, whoever it met last first
      @people <agent> <who>        one of them: facts, conclusions, observations
      @people/places <agent> [<place>]
      @people/things <agent> [<thing>]

    Without a name the agent in the room is meant.

    What it observed is kept apart from what it concluded, each with the numbers
    of memories: see |whelp @memories|n. Facts that changed keep both versions with
    their times; the newer one counts. A person is known by an identity that
    stays when the name changes; two characters of one account are two people.

    The files are in |wpeople|n, |wplaces|n and |wthings|n below |wvault/agents/<agent>|n.
    You may edit them. One that cannot be read is named here and left alone. How
    much is kept and shown is set in vault/config/people.md.

    Example:
      @people Mira Tom

    See also: |whelp @journal|n, |whelp @history|n
    """

    key = "@people"
    switch_options = ("places", "things")

    def run(self) -> None:
        """Read the profiles in the background."""
        agent, who = self.agent_then(self.args)
        kind = _KINDS[self.switches[0] if self.switches else ""]
        name, known = agent.key, self.mind(agent).acquaintances
        now = services().clock.now()
        self.answer(lambda: _shown(name, known, kind, who, now))


def _shown(name: str, known: Acquaintances, kind: ProfileKind, who: str, now: datetime) -> str:
    known.settle()  # what happened a moment ago is wanted too
    text = _one(name, known.book, kind, who, now) if who else _all(name, known.book, kind, now)
    return "\n".join([text, *(f"|r{plain(problem)}|n" for problem in known.book.problems)])


def _all(name: str, book: PeopleBook, kind: ProfileKind, now: datetime) -> str:
    found = [each for each in book.all() if each.kind is kind]
    if not found:
        return f"{name} knows no {_NOUNS[kind]} yet."
    cut = f", the {MOST} met last" if len(found) > MOST else ""
    known = counted(len(found), kind.value)
    return f"|w{name} knows {known}|n{cut}\n{_table(found[:MOST], kind, now)}"


def _table(found: Sequence[Profile], kind: ProfileKind, now: datetime) -> str:
    person = kind is ProfileKind.PERSON
    rows = []
    for each in found:
        earlier = ", ".join(name.name for name in each.names[:-1])
        cells = [plain(each.name), plain(shortened(earlier, 30)) or "-"]
        rows.append([*cells, ago(each.last_met, now), *[closeness(each, now).value] * person])
    return table(["Who" if person else "What", "Was called", "Last met", *["Is"] * person], rows)


def _one(name: str, book: PeopleBook, kind: ProfileKind, who: str, now: datetime) -> str:
    found = [each for each in book.find(who) if each.kind is kind]
    if not found:
        switch = "" if kind is ProfileKind.PERSON else f"/{_NOUNS[kind]}"
        raise KeepsakeError(
            f"{name} knows nothing of {shortened(who)!r} among its {_NOUNS[kind]}",
            f"See all of them: @people{switch} {name}",
        )
    return "\n\n".join("\n".join(profile_lines(each, now)) for each in found)


def profile_lines(profile: Profile, now: datetime) -> Iterator[str]:
    """A profile for people: figures, facts, what it thinks, what it observed."""
    yield f"|w{plain(profile.name)}|n ({profile.kind.value}, {plain(profile.key)})"
    yield figures.labelled(list(_figures(profile, now)), 14)
    facts = [fact for fact in profile.facts if fact.holds]
    before = [fact for fact in profile.facts if not fact.holds]
    yield from _section("Facts", [_fact(fact) for fact in facts])
    yield from _section("Before", [_fact(fact) for fact in before])
    conclusions = [_hung(each.text, each.numbers, 4) for each in profile.conclusions]
    yield from _section("What it thinks", conclusions)
    observed = [
        f"|x{each.time.astimezone():%d %b %H:%M}|n {_hung(each.text, [each.number], 15)}"
        for each in profile.observations
    ]
    yield from _section("What it observed", observed)


def _figures(profile: Profile, now: datetime) -> Iterator[tuple[str, str]]:
    if len(profile.names) > 1:
        former = [f"{plain(n.name)} (from {n.since.astimezone():%d %b %Y})" for n in profile.names]
        yield "Names", ", then ".join(former)
    yield "First met", f"{profile.first_met.astimezone():%Y-%m-%d %H:%M}"
    last = ago(profile.last_met, now)
    yield "Last met", f"{profile.last_met.astimezone():%Y-%m-%d %H:%M} ({last})"
    yield "Meetings", f"{profile.meetings}, {counted(profile.exchanges, 'exchange')}"
    if profile.kind is ProfileKind.PERSON:
        felt = feeling(profile)
        warm = f"warmth {profile.warmth:+.2f}{f': {felt}' if felt else ''}"
        yield "Is to it", f"{closeness(profile, now).value} ({warm})"
    if profile.shared:
        yield "Last shared", f"{plain(profile.shared.text)} {_cited([profile.shared.number])}"
    yield "Worked in", f"up to memory {profile.through}"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"|w{title}|n"
        yield from (f"  {line}" for line in lines)


def _fact(fact: Fact) -> str:
    since = f"since {fact.since.astimezone():%d %b %Y}"
    until = f", until {fact.until.astimezone():%d %b %Y}" if fact.until else ""
    told = f", told by {plain(fact.told_by)}" if fact.told_by else ", seen"
    head = f"{plain(fact.attribute)}: |c{plain(fact.value)}|n"
    return f"{head} |x({since}{until}{told})|n {_cited(fact.numbers)}"


def _hung(text: str, numbers: Sequence[int], indent: int) -> str:
    return figures.hung(f"{text} {strip_ansi(_cited(numbers))}", indent)


def _cited(numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    return f"|x({plural('memory', len(numbers))} {', '.join(map(str, numbers))})|n"
