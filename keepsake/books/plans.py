"""What an agent means to do: ``plans.md`` in its folder, one line a plan.

::

    - [ ] 2026-11-29 12:00, at The Quay, with Anneke: show her the ferry (plan 3, memory 212)
    - [>] ask Bram for honey; bring it to Oswin (plan 4, memory 230, by 12-20261101090000)
    - [x] when Jonas comes: give him his soup (plan 2, memory 198; he had it)

The mark says its state: open, begun ``>``, done ``x``, dropped ``-`` or missed ``!``. The words
before the colon say when, where and with whom; each may be left out. A person may edit the file,
and may write a line as the agent does: ``- [ ] tomorrow noon, the Quay, Anneke: show her the
ferry``. :meth:`PlanBook.adopt` gives such a line a number and a date. Every change is also a line
in the archive, which :class:`PlanBook` passes on.

Reading is fast and never raises. Writing blocks, so do it in a worker thread.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.books.files import NO_OWNER, Owner
from keepsake.books.kept_lines import ListBook, find_item
from keepsake.errors import NoteRefused
from keepsake.events.values import Author, MemoryOp
from keepsake.happening import Person
from keepsake.language.perception import for_prompt, names, shorten
from keepsake.language.when import When, read_when

PLANS = "plans.md"
"""The file of an agent's folder with its plans."""
LONGEST_PLAN = 400
"""The most characters of what is meant to be done: an errand of four steps, or five, in words."""
_LONGEST_TOLD = 80
"""The most characters of it in the result of a deed, which stands below the deed's own words."""
MOST_OPEN = 12
"""The most plans that are open or begun. More would crowd a prompt, and nobody means so much."""
KEPT_ENDED = 20
"""How many ended plans the file keeps; the archive has all."""
OPENED = "opened"
"""The change of a private plan that anybody may know now, in other words."""
GRACE = timedelta(minutes=15)
"""How long after its time a plan can still be kept. Later it is missed."""


class PlanState(StrEnum):
    """How far a plan is."""

    OPEN = "open"
    DOING = "doing"
    DONE = "done"
    DROPPED = "dropped"
    MISSED = "missed"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will be done for it."""
        return self in (PlanState.DONE, PlanState.DROPPED, PlanState.MISSED)


_MARKS = {
    " ": PlanState.OPEN,
    ">": PlanState.DOING,
    "x": PlanState.DONE,
    "X": PlanState.DONE,
    "-": PlanState.DROPPED,
    "!": PlanState.MISSED,
}
_MARK_OF = {state: mark for mark, state in reversed(_MARKS.items())}
_LINE = re.compile(
    r"^[-*] \[(?P<mark>[ >xX!-])\] (?P<said>\S.*?)"
    r"(?: \(plan (?P<number>\d{1,9})(?:, memory (?P<since>\d{1,9}))?"
    r"(?:, by (?P<key>[\w:.-]{1,60}))?(?:, only for (?P<private>[\w:.?, -]{0,200}))?"
    r"(?:; (?P<why>[^()]{1,200}))?\))?[ \t]*$"
)
_COLON = re.compile(r":(?=\s)")
_AT = re.compile(r"(?:at|in|by|on) (?=\D)", re.I)
_AT_END = re.compile(r"(?:\b(?:at|in|by|on)\s+)?(?:the\s+)?$", re.I)
_WITH = re.compile(r"(?:with|to|for) ", re.I)
_OWN_PLACE = re.compile(r"(?:^|, )at (?P<where>.+?)(?=, with |: )")
"""The place in a line that :attr:`Plan.line` wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Something that an agent means to do.

    Attributes:
        number: 1, 2, 3 …; unique for one agent. 0 before the book has numbered it.
        what: What it means to do, in its own words.
        when: The time, the meeting or the event that it waits for; None for any time.
        where: The name of the place; empty for any.
        whom: The person whom it is done with or for; None for nobody.
        state: How far it is.
        since: The number of the memory that it rests on; 0 if a person wrote it.
        why: Why it was dropped, or how it ended.
        private: The identities of the only people who may know of it; None for anybody.
    """

    what: str
    number: int = 0
    when: When | None = None
    where: str = ""
    whom: Person | None = None
    state: PlanState = PlanState.OPEN
    since: int = 0
    why: str = ""
    private: frozenset[str] | None = None

    @property
    def at(self) -> datetime | None:
        """The time of the plan; None if it has none."""
        return self.when.at if self.when else None

    @property
    def is_begun(self) -> bool:
        """Whether something was done for it, and it has not ended."""
        return self.state is PlanState.DOING

    def is_overdue(self, now: datetime) -> bool:
        """Return whether its time passed so long ago that it was missed."""
        return not self.state.has_ended and self.at is not None and now > self.at + GRACE

    def is_met(self, people: Iterable[Person]) -> bool:
        """Return whether it waits for somebody who is among ``people``."""
        waited = self.when.meeting if self.when else ""
        if not waited or self.state.has_ended:
            return False
        if self.whom and self.whom.id and names(self.whom.name, waited):
            return any(each.id == self.whom.id for each in people)
        return any(names(each.name, waited) for each in people)

    @property
    def line(self) -> str:
        """The plan as a prompt shows it: ``tomorrow 12:00, at The Quay, with Anneke: …``."""
        return self._line(self.what)

    @property
    def told(self) -> str:
        """The plan as the result of a deed tells it: in full only if it is short."""
        return self._line(self.short)

    @property
    def short(self) -> str:
        """The beginning of what is meant to be done; all of it if that is short."""
        return shorten(self.what, _LONGEST_TOLD)

    def _line(self, what: str) -> str:
        head = self.appointment
        return f"{head}: {what}" if head else what

    @property
    def appointment(self) -> str:
        """When, where and with whom, without what is meant to be done; empty if nothing is set."""
        return ", ".join(self._conditions())

    def _conditions(self) -> list[str]:
        found = []
        if self.when is not None:
            at = self.when.at
            meeting = f"when {self.when.meeting} comes" if self.when.meeting else self.when.after
            found.append(f"{at.astimezone():%Y-%m-%d %H:%M}" if at else meeting)
        if self.where:
            found.append(f"at {self.where}")
        if self.whom and not (self.when and self.when.meeting == self.whom.name):
            found.append(f"with {self.whom.name}")
        return found

    def to_record(self, change: str, time: datetime) -> dict[str, Any]:
        """Return the archive line of a change: ``made``, or the name of the new state."""
        record: dict[str, Any] = {"type": LineType.PLAN, "id": self.number, "change": change}
        record |= {"t": time.isoformat(), "what": self.what, "state": self.state.value}
        record |= {"when": self.line.removesuffix(self.what).rstrip(": "), "memory": self.since}
        if self.whom is not None:
            record |= {"whom": [self.whom.name, self.whom.id]}
        if self.why:
            record["why"] = self.why
        if self.private is not None:
            record["private"] = sorted(self.private)
        return record


def _states_in(
    newest_first: Iterable[Mapping[str, Any]], numbers: set[int]
) -> dict[int, PlanState]:
    """Return the last recorded state of each of these plans, from lines of the archive."""
    found = dict[int, PlanState]()
    if not numbers:
        return found
    for line in newest_first:
        number = line.get("id")
        if line.get("type") == LineType.PLAN and number in numbers and number not in found:
            found[number] = PlanState(line["state"])
            if len(found) == len(numbers):
                break
    return found


def read_plan(
    text: str, now: datetime, places: Collection[str] = (), people: Iterable[Person] = ()
) -> Plan:
    """Return the plan that a line says: ``tomorrow 12:00, the Quay, Anneke: show her the ferry``.

    Args:
        text: The line. Time, place and person may be left out.
        now: The present time, with time zone.
        places: Names of known places.
        people: Known people; a name among them gets its identity.

    Raises:
        NoteRefused: It says nothing that is meant to be done.
    """
    known = {each.name.casefold(): each for each in people}
    found = Plan(what="")
    head, what = _halves(text, now, places, known)
    for place in places:  # "Hale, Clocks Mended" is one part
        if "," in place and (at := head.casefold().find(_bare(place).casefold())) >= 0:
            found = replace(found, where=place)
            head = f"{_AT_END.sub('', head[:at])},{head[at + len(_bare(place)) :]}"
    for part in filter(None, (each.strip() for each in head.split(","))):
        found = _with_condition(found, part, now, places, known)
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
    return replace(found, what=what)


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
    return (head, text[colon.end() :]) if readable else ("", text)


def _is_condition(
    part: str, now: datetime, places: Collection[str], known: dict[str, Person]
) -> bool:
    bare = _bare(part)
    place = any(_bare(each).casefold() == bare.casefold() for each in places)
    with_word = _AT.match(part) or _WITH.match(part)
    return bool(place or with_word or bare.casefold() in known or read_when(part, now))


def _with_condition(
    plan: Plan, part: str, now: datetime, places: Collection[str], known: dict[str, Person]
) -> Plan:
    bare = _bare(part)
    place = next((each for each in places if _bare(each).casefold() == bare.casefold()), "")
    if plan.when is None and not place and (when := read_when(part, now)) is not None:
        return replace(plan, when=when)
    if not plan.where and (place or (_AT.match(part) and bare.casefold() not in known)):
        return replace(plan, where=place or _AT.sub("", part, count=1).strip())
    if plan.whom is None:
        return replace(plan, whom=known.get(bare.casefold(), Person(for_prompt(bare)[:48])))
    raise NoteRefused(
        f"{shorten(part, 60)!r} is no time, place or person that can be planned with",
        "A time is: tomorrow 12:00, in 3 minutes, Saturday evening, when Anneke comes",
    )


def _bare(part: str) -> str:
    """Return a part without the word before it, and without its article."""
    part = _WITH.sub("", _AT.sub("", part, count=1), count=1).strip()
    return re.sub(r"^(?:the|a|an) ", "", part, flags=re.I)


class PlanBook(ListBook[Plan]):
    """The plans of one agent; safe to use from several threads.

    Args:
        record: Appends a line to the archive; called after each change, in the thread that made
            it. It may raise, and then the file has the change and the archive has not.
        now: Returns the present time, for lines that a person wrote.
    """

    def __init__(
        self,
        path: Path,
        owner: Owner = NO_OWNER,
        *,
        record: Callable[[dict[str, Any]], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._now = now
        self._record = record
        # The states that the archive has, by plan; None before they were read.
        self._recorded: dict[int, PlanState] | None = None
        self._changing = threading.RLock()  # held from a change of the file until it is recorded
        super().__init__(path, owner, self._plan_of, _line_of)

    @property
    def current(self) -> tuple[Plan, ...]:
        """The plans that are open or begun, in the order of the file."""
        return tuple(each for each in self.items if not each.state.has_ended)

    def add(self, plan: Plan, by: Author = Author.AGENT, *, opens: Collection[int] = ()) -> Plan:
        """Add a plan, and return it with its number.

        Args:
            opens: The memories of private plans, made in an answer to the same words, of which an
                open plan takes the place: of the one for the same time, place and person, else of
                the only one.

        Raises:
            NoteRefused: The same is planned already, too much is, or the file cannot be written.
        """
        made = plan

        def make(items: tuple[Plan, ...]) -> Plan:
            nonlocal made
            current = [each for each in items if not each.state.has_ended and each != closed]
            if any(_same(each, plan) for each in current):
                raise NoteRefused("That is planned already")
            if len(current) >= MOST_OPEN:
                public = (each.what for each in current if each.private is None)
                listed = "; ".join(shorten(each, 40) for each in public)
                raise NoteRefused(f"{len(current)} plans are open: {listed}", "Drop one first")
            number = max((each.number for each in items), default=0) + 1
            made = replace(plan, number=number)
            return made

        with self._changing:
            closed = self._closed_by(plan, opens)
            if closed is None:
                self._change(make)
                self._changed(made, "made", by)
            else:
                make(self.items)
                made = replace(plan, number=closed.number, state=closed.state)
                self._rewrite(closed, made)
                self._changed(made, OPENED, by)
        return made

    def _closed_by(self, plan: Plan, opens: Collection[int]) -> Plan | None:
        """Return the private plan of which an open one takes the place; None if there is none."""
        if plan.private is not None:
            return None
        private = [x for x in self.current if x.since in opens and x.private is not None]
        alike = [each for each in private if _alike(each, plan)]
        if alike:
            return alike[0]
        return private[0] if len(private) == 1 else None

    def adopt(self) -> list[Plan]:
        """Give plans that a person wrote into the file a number and a date; return them.

        Raises:
            NoteRefused: The file cannot be written.
        """
        adopted = list[Plan]()
        if all(each.number for each in self.items):
            return adopted

        def make(source: str | None, items: tuple[Plan, ...] | None) -> str:
            adopted.clear()
            last = max((each.number for each in items or ()), default=0)
            lines = list[str]()
            for line in (source or "").splitlines(keepends=True):
                item = self._plan_of(line.rstrip())
                if item is None or item.number:
                    lines.append(line)
                    continue
                last += 1
                adopted.append(replace(item, number=last))
                lines.append(_line_of(adopted[-1]) + "\n")
            return "".join(lines)

        with self._changing:
            self.store.change(self.path, make)
            for each in adopted:
                self._changed(each, "made", Author.BUILDER)
        return adopted

    def record_changes(self, newest_first: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
        """Record the states that the archive does not have; blocks.

        The file may be ahead of the archive: a person edited it, or the world was killed between
        the two. Call it after :meth:`adopt`.

        Args:
            newest_first: Returns the archive's lines. They are read once, back to the last change
                of each plan in the file.
        """
        with self._changing:
            items = [each for each in self.items if each.number]
            if self._recorded is None:
                self._recorded = _states_in(newest_first(), {each.number for each in items})
            for plan in items:
                if self._recorded.get(plan.number) is not plan.state:
                    made = plan.number not in self._recorded and plan.state is PlanState.OPEN
                    self._changed(plan, "made" if made else plan.state.value, Author.BUILDER)

    def find(self, which: str, may: Callable[[Plan], bool] = lambda _: True) -> Plan:
        """Return the current plan that a number, or words that only it has, refer to.

        Args:
            may: Returns whether a plan may be named. No refusal tells of any other.

        Raises:
            NoteRefused: No plan matches, or several do.
        """
        current = [each for each in self.current if may(each)]
        numbers = [each.number for each in current]
        return current[find_item(which, numbers, [each.line for each in current], "plans")]

    def set_state(
        self, plan: Plan, state: PlanState, why: str = "", by: Author = Author.AGENT
    ) -> Plan:
        """Change the state of a plan, and return it as it is now.

        Raises:
            NoteRefused: The file has no such plan, or cannot be written.
        """
        changed = replace(plan, state=state, why=_clean(why))
        with self._changing:
            self._rewrite(plan, changed)
            self._changed(changed, state.value, by)
        return changed

    def _rewrite(self, plan: Plan, changed: Plan) -> None:
        found = False

        def make(source: str | None, _: tuple[Plan, ...] | None) -> str:
            nonlocal found
            lines = list[str]()
            ended = list[int]()
            for line in (source or "").splitlines(keepends=True):
                item = self._plan_of(line.rstrip())
                if item is not None and not found and _same(item, plan):
                    found = True
                    item = changed
                    lines.append(_line_of(changed) + "\n")
                else:
                    lines.append(line)
                if item is not None and item.state.has_ended:
                    ended.append(len(lines) - 1)
            for place in reversed(ended[:-KEPT_ENDED]):
                del lines[place]
            return "".join(lines)

        self.store.change(self.path, make)
        if not found:
            raise NoteRefused(f"There is no plan {shorten(plan.what, 60)!r} any more")

    def _changed(self, plan: Plan, change: str, by: Author) -> None:
        self._record(plan.to_record(change, self._now()))
        if self._recorded is not None:
            self._recorded[plan.number] = plan.state
        self.store.emit(MemoryOp.PLAN, by, n=plan.number, of=change, size=len(plan.what))

    def _plan_of(self, line: str) -> Plan | None:
        match = _LINE.match(line)
        if match is None:
            return None
        # The file knows no places: in a line of the game's own, "at Hale, Clocks Mended, with Ann"
        # says itself where the place ends.
        place = _OWN_PLACE.search(match["said"]) if match["number"] else None
        places = [place["where"]] if place else []
        try:
            plan = read_plan(match["said"], self._now(), places)
        except NoteRefused:
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
        )


def _same(one: Plan, other: Plan) -> bool:
    """Whether two plans are one: by their number or, if a person wrote one, by their words."""
    if one.number and other.number:
        return one.number == other.number
    return (one.what.casefold(), one.when) == (other.what.casefold(), other.when)


def _alike(one: Plan, other: Plan) -> bool:
    """Whether two plans are for the same time, place and person, whatever is to be done."""
    if one.at is None or other.at is None:
        together = one.when == other.when
    else:
        together = abs(one.at - other.at) <= GRACE
    return together and (one.where, one.whom) == (other.where, other.whom)


def _clean(why: str) -> str:
    return shorten(for_prompt(why.translate(str.maketrans("()", "  "))), 120)


def _line_of(plan: Plan) -> str:
    facts = [f"plan {plan.number}"] if plan.number else []
    if plan.number:
        facts += [f"memory {plan.since}"] if plan.since else []
        facts += [f"by {plan.whom.id}"] if plan.whom and plan.whom.id else []
        if plan.private is not None:
            facts.append(f"only for {', '.join(sorted(plan.private))}")
    end = f" ({', '.join(facts)}{f'; {plan.why}' if plan.why else ''})" if facts else ""
    return f"- [{_MARK_OF[plan.state]}] {plan.line}{end}"
