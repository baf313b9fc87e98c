"""What an agent had in mind at a time, in a few lines: what it meant, kept to itself, had heard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.plan import PlanState
from keepsake.happening import KnownVerb, Manner, Speech
from keepsake.language.perception import one_line
from keepsake.tracing.content import Content, Rarity, told_in
from keepsake.web import world
from keepsake.web.agent.plan_causes import secret_of, senders
from keepsake.web.asked.lines import in_quotes, line_of, short, short_date
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.pasts.past_shapes import AsOfView, PastPromise
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.gist import beginning, gist
from keepsake.web.privacy import kept_for, privacy_of
from keepsake.web.questions.clock import as_shown

MEANT = 2
"""The plans and promises that are shown; how many there are besides is said."""
SECRETS = 2
"""The secrets that are shown."""
MOST = 4
"""The lines of an answer. The last one is always what it had heard last: it says where it was."""
_WHOLE = 200
"""The most characters of what was heard last that is not cut: its end is answered."""
READ = 500
"""The newest memories among which secrets are looked for: more than a window holds."""
_DATED = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<hour>\d\d:\d\d)(?:, )?")
"""When a plan is due, as its line has it."""


def then(agent: KnownAgent, was: AsOfView) -> Sequence[AnswerLine]:
    """Return what an agent had in mind at a time.

    Args:
        agent: Its memory is open.
        was: Its memory of that time.
    """
    if not was.number:
        return ()
    assert agent.mind is not None
    archive = Archive(agent.mind.memory.folder / "archive", read_only=True)
    lately = archive.read(max(was.number - READ, 0) + 1, was.number)
    rarity = Rarity.among(each.words for each in lately if each.words)
    said = [each for each in lately if isinstance(each.what, Speech) and each.words]
    heard = [each for each in said if not each.is_own and told_in(each.words)]
    secrets = [*_secrets(heard, rarity, _planned(lately))]
    known = {each.number for each in secrets}
    others = [each for each in said if not each.is_own and each.number not in known]
    openly = [each for each in heard if each.number not in known] or others
    newest = openly[-1:] or [each for each in said if each.is_own][-1:]
    today = as_shown(was.time).date()
    last = [
        _line("Said last" if each.is_own else "Heard last", each, rarity, today, each.words)
        for each in newest
    ] or [AnswerLine(label="Heard last", text="Nobody had said anything near it.")]
    carried = senders((each.since for each in was.plans), archive, world.folders())
    meant = [*_meant(was, today, carried)]
    kept = [_line("Keeps secret", each, rarity, today) for each in secrets]
    return [*meant, *kept[: MOST - len(meant) - len(last)], *last]


def _planned(lately: Iterable[Memory]) -> Set[int]:
    """Return the numbers of the memories for which it made a plan: they asked for something.

    A plan may rest on several. The newest one is that which was answered.
    """
    plans = (each for each in lately if each.is_own and each.verb == KnownVerb.PLAN)
    return {max(each.rests_on) for each in plans if each.rests_on}


def _secrets(heard: Sequence[Memory], rarity: Rarity, errands: Set[int]) -> Iterator[Memory]:
    """Yield what was whispered to it, that which says most of each whisperer, and that first.

    ``errands``: What asked for something is no secret, and may be done or called off.
    """
    most: dict[str, tuple[float, Memory]] = {}
    for each in heard:
        assert isinstance(each.what, Speech)
        if each.what.manner is not Manner.WHISPER or each.number in errands:
            continue
        says = _bits(told_in(each.words), rarity)
        if each.source not in most or most[each.source][0] <= says:
            most[each.source] = says, each
    chosen = sorted(most.values(), key=lambda each: each[0], reverse=True)[:SECRETS]
    yield from (each for _, each in chosen)


def _bits(text: str, rarity: Rarity) -> float:
    """Return how much a text says, in bits: rare words say most."""
    content = Content(text, rarity)
    return content.bits(content.parts)


def _line(label: str, memory: Memory, rarity: Rarity, today: date, of: str = "") -> AnswerLine:
    """Return the part that says most of what was said, in a line.

    ``of``: The words of which it is a part; empty for what tells something, without questions.
    """
    shown = as_shown(memory.time)
    on = "" if shown.date() == today else f"{short_date(shown.date())}, "
    assert isinstance(memory.what, Speech)
    most = gist(of or memory.words, lambda part: (_bits(told_in(part), rarity), 0.0))
    most = most or beginning(of or memory.words)
    if of and len(of) <= _WHOLE:
        most = one_line(of)
    return line_of(
        label,
        memory.words,
        most,
        in_quotes,
        aside=" ".join(filter(None, [memory.source, f"{on}{shown:%H:%M}"])),
        private=privacy_of(memory),
        number=memory.number,
    )


def _meant(was: AsOfView, today: date, carried: Mapping[int, Memory]) -> Iterator[AnswerLine]:
    """Yield its open plans and promises: what was begun, then what was due first.

    ``carried``: What asked for plans first, by the memory on which they rest.
    """
    plans = sorted(was.plans, key=lambda each: (each.state is not PlanState.DOING, _due(each)))
    promises = [each for each in was.promises if not each.plan]
    meant = [
        *(_plan(each, today, carried.get(each.since)) for each in plans),
        *(_promise(each) for each in promises),
    ]
    if not meant:
        yield AnswerLine(label="Meant to", text="No plan or promise was open.")
    shown = meant[:MEANT]
    if len(meant) > MEANT:
        more = f"and {len(meant) - MEANT} more"
        shown[-1] = shown[-1].model_copy(update={"aside": more})
    yield from shown


def _due(plan: PastPlan) -> str:
    """Return the key that sorts plans by time; those without one come last."""
    found = _DATED.match(plan.line)
    return found[0] if found else "~"


def _plan(plan: PastPlan, today: date, sender: Memory | None) -> AnswerLine:
    rest = plan.line.removesuffix(plan.what).removesuffix(": ")
    when = ""
    if found := _DATED.match(rest):
        rest = rest[found.end() :]
        day = date.fromisoformat(found["day"])
        when = found["hour"] if day == today else f"{short_date(day)}, {found['hour']}"
    is_secret = plan.private and not plan.aloud
    return AnswerLine(
        label="Meant to",
        text=short(f"{when}: {plan.what}" if when else plan.what),
        aside=rest,
        private=secret_of(kept_for(plan.confidants), sender) if is_secret else "",
        number=plan.since,
    )


def _promise(promise: PastPromise) -> AnswerLine:
    text = f"{promise.whom}: {promise.text}" if promise.whom else promise.text
    return AnswerLine(
        label="Promised", text=short(text), private=promise.private, number=promise.memory
    )
