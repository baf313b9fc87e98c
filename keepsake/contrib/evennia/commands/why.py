"""Builders see why an agent acted, what it remembers, and what recall finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.agent.why.basis import PromptSource, SummaryBasis
from keepsake.agent.why.why import Why, why_did
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.contrib.evennia.commands.base import (
    Query,
    author_of,
    one_line,
    plain,
    shortened,
    when,
)
from keepsake.contrib.evennia.wording import counted, quoted
from keepsake.errors import KeepsakeError
from keepsake.events.types import Thought
from keepsake.events.values import Consented, RecalledKind
from keepsake.prompt.sections import Costs, chart
from keepsake.recall.documents import DocumentKind, Hit

MOST_SENTENCES = 5
"""The most sentences of a summary that are shown."""
MOST_RECALLED = 5
"""The most recalled memories that are shown with their words; the others are only named."""
_LONGEST = 200
"""The most characters of an altered, refused or dropped answer that are shown."""
_LOG_SECONDS = 1.0
"""Seconds to wait until the event log has written the newest events."""
_OPENLY = "without private words, which alone had made its plan or promise private"
MOST_HITS = 12
"""The most results of a builder's search that are shown."""
NEWEST = 100
"""The number of memories that are shown if no range is given."""
MOST = 5000
"""The most memories of one page; nobody reads more of a terminal."""
_MARKS = {MemoryKind.ACT: "|c~|n", MemoryKind.RESULT: "|x=|n", MemoryKind.PERCEPTION: " "}
_SUMMARIES = {"longterm": "long-term summary", "recent": "short-term summary"}


def view(query: Query) -> Callable[[], str]:
    """``@why``: show what set an act off and what was in its prompt, from event log and archive."""
    n = query.number(1)
    agent = query.agent
    archive = query.mind.memory.memory.archive
    name = agent.key
    number = agent.id
    folder = runtime().places.events
    now = runtime().clock.now()
    log = runtime().event_log

    def work() -> str:
        if log is not None:  # so that the newest act is in the files
            log.flush(_LOG_SECONDS)
        found = why_did(folder, archive, name, number, n)
        return explanation(found, now)

    return work


def explanation(why: Why, now: datetime) -> str:
    """Return the explanation of an act in words, as a builder sees it."""
    prompt = f", prompt {why.thought.prompt}" if why.thought and why.thought.prompt else ""
    event = f"|x              event {why.seq} in the log{prompt}|n"
    return "\n".join(
        [
            *_act(why, now),
            *_cause(why),
            *_recalled(why),
            *_plans(why),
            *_summaries(why),
            *_guards(why),
            *_agreements(why),
            *_consents(why),
            *((*_cost(why.thought), event) if why.thought else ()),
            *(f"|yNote:|n {plain(each)}." for each in why.missing),
        ]
    )


def _act(why: Why, now: datetime) -> Iterator[str]:
    which = "last act" if why.nth == 1 else f"act {why.nth}, counted back from the last"
    yield f"|w{why.agent}'s {which}|n, {when(why.time, now)}"
    where = f" |x(memory {why.act.number}, {plain(why.act.place)})|n"
    yield f"  {one_line(why.command) or '(nothing)'}{where}"
    if why.by_rule:
        yield "|wBy rule|n      no model was asked"
    elif why.reason:
        yield f"|wReason|n       {one_line(why.reason)}"
    for each in why.failed:
        yield f"|rFailed|n       {one_line(each)}"


def _cause(why: Why) -> Iterator[str]:
    if not why.trigger:
        return
    by = ""
    queue = ""
    if (thought := why.thought) is not None:
        by = f" by {plain(thought.source)}" if thought.source else ""
        queue = f" (queue: {plain(thought.priority)})"
    yield f"|wTrigger|n      {plain(why.trigger)}{by}{queue}"
    if why.cause is not None:
        yield from memory_lines([why.cause])


def _recalled(why: Why) -> Iterator[str]:
    found = why.recalled
    if not found:
        if not why.by_rule:
            known = "nothing" if why.is_logged else "not known: older than the event log"
            yield f"|wRecalled|n     {known}"
        return
    yield "|wRecalled|n"
    best = sorted(found, key=lambda each: -each.score)
    yield from _sources(best[:MOST_RECALLED])
    if len(best) > MOST_RECALLED:
        others = ", ".join(map(_title, best[MOST_RECALLED:]))
        yield f"  |xand {len(best) - MOST_RECALLED} more:|n {others}"


def _sources(found: Iterable[PromptSource]) -> Iterator[str]:
    for each in found:
        yield f"  {each.score:6.2f}  {_title(each)}  {one_line(each.text, 160)}"
        if each.why:
            yield f"          |xwhy:|n {one_line(each.why)}"


def _title(found: PromptSource) -> str:
    if found.kind == RecalledKind.NOTE:
        return f"|ynote {plain(found.title)}|n"
    is_summary = found.kind == RecalledKind.SUMMARY and found.last
    of = f" (memories {found.first}-{found.last})" if is_summary else ""
    return f"|y{plain(found.kind)} {found.n}|n{of}"


def _plans(why: Why) -> Iterator[str]:
    """Yield the plans that stood in the prompt, and the plan that the act belongs to."""
    shown = why.plans or ()
    if why.by_rule:  # it had no prompt
        shown = ()
    elif why.plans is None:
        yield "|wPlans|n        not known: the event log does not have its prompt"
    elif not shown:
        yield "|wPlans|n        none in the prompt"
    else:
        yield "|wPlans|n        in the prompt"
    own = why.plan
    for each in shown:
        yield _plan(each, own is not None and each.number == own.number)
    if own is not None and all(each.number != own.number for each in shown):
        yield "|wPlan|n         that the act belongs to"
        yield _plan(own)


def _plan(plan: PastPlan, own: bool = False) -> str:
    private = f"|m({plan.privacy})|n " if plan.privacy else ""
    mark = " |x(the act belongs to it)|n" if own else ""
    return f"  |y{plan.number:>3}|n  {private}{one_line(plan.line)}{mark}"


def _summaries(why: Why) -> Iterator[str]:
    if why.by_rule:  # it had no prompt
        return
    if why.window is not None:
        first, last = why.window
        window = f"memories {first}-{last}" if first <= last else "nothing"
        yield f"|wWord for word|n {window}{_masked(why.masked)}"
    if not why.summaries:
        yield "|wSummaries|n    none in the prompt"
    for each in why.summaries:
        yield (
            f"|wSummaries|n    {_SUMMARIES[each.tier]} of compaction {each.compaction} "
            f"(memories {each.first}-{each.last}, {author_of(each.model)})"
        )
        yield from _summary(each)


def _masked(numbers: Sequence[int] | None) -> str:
    """Return of which memories of the window the prompt had only that they were whispered."""
    if numbers is None:
        return "; whispers only if it had their words: its prompt is not known"
    if not numbers:
        return ""
    were = "they were" if numbers[1:] else "it was"
    return f"; of {', '.join(map(str, numbers))} only that {were} whispered"


def _summary(summary: SummaryBasis) -> Iterator[str]:
    if not summary.told:
        yield "    |xno sentence shares a word with the act|n"
    for sentence in summary.told[:MOST_SENTENCES]:
        yield f"    {plain(shortened(sentence, 300))}"
    if len(summary.told) > MOST_SENTENCES:
        yield f"    |xand {len(summary.told) - MOST_SENTENCES} more sentences|n"


def _guards(why: Why) -> Iterator[str]:
    """Yield the parts of the answer that were altered, refused or dropped, and why."""
    for each in why.guards:
        yield f"|w{each.op.capitalize():<13}|n {one_line(each.reason)}"
        yield f"    |xwritten:|n {one_line(each.before, _LONGEST)}"


def _agreements(why: Why) -> Iterator[str]:
    """Yield the deeds that a small model was asked about: does its answer agree to them?"""
    for each in why.agreements:
        yield f"|wAgreed?|n      {one_line(each.deed)}: {each.found}"
        if each.hint:
            yield f"    |xtold:|n {one_line(each.hint)}"


_OF_CONSENT: Mapping[str, str] = {
    Consented.ASKED: "{whose} whisper allowed this for {to}",
    Consented.NOTHING: "this for {to} holds nothing of {whose} whisper",
    Consented.NO: "{whose} whisper did not allow this for {to}",
}
"""What the model said of words to somebody who did not know what was whispered."""


def _consents(why: Why) -> Iterator[str]:
    """Yield what the model said of words to somebody who did not know what was whispered."""
    for each in why.consents:
        whose = " and ".join(f"{name}'s" for name in each.of)
        what = _OF_CONSENT[each.found].format(whose=whose, to=each.to)
        by = f"the model was not asked ({one_line(each.unasked)})" if each.unasked else ""
        yield f"|wAllowed?|n     {one_line(what)}: {by or 'asked of the model'}"
        asks = f", asked for by memory {each.memories[0]}" if each.found == Consented.ASKED else ""
        yield f"    |xwords:|n {one_line(each.words, _LONGEST)}{asks}"


def _cost(cost: Thought) -> Iterator[str]:
    if cost.openly:
        yield f"|wAsked again|n  {_OPENLY}"
    if cost.sections and cost.budget:
        lines = chart(Costs(cost.sections, cost.budget, sum(cost.sections.values())))
        yield "|wPrompt|n"
        yield from (f"  {plain(line)}" for line in lines)
    if not cost.model:
        return
    seed = "random" if cost.seed is None else str(cost.seed)
    cached = "unknown" if cost.cached_tokens is None else f"{cost.cached_tokens:,}"
    read = f"{cost.prompt_tokens:,}" if cost.prompt_tokens else "unknown"
    written = f"{cost.completion_tokens:,}" if cost.completion_tokens else "unknown"
    yield (
        f"|wAnswered by|n  {plain(cost.model)}, temperature {cost.temperature:g}, seed {seed}, "
        f"try {cost.attempt}"
    )
    yield (
        f"              {read} prompt tokens ({cached} cached), "
        f"{written} answer tokens; waited {cost.wait:.2f} s, answered in "
        f"{cost.latency:.2f} s"
    )


# -- recall


def search(query: Query) -> Callable[[], str]:
    """``@recall``: search as the agent's own thoughts do; raises KeepsakeError without words."""
    name = query.name
    words = query.words
    memory = query.mind.memory
    if not words:
        raise KeepsakeError("No words to search for", "Example: @recall Mira = the brass key")
    recaller = query.mind.tools.recaller
    window = len(memory.context().window)

    def work() -> str:
        found = recaller.recall_blocking(words, limit=MOST_HITS, audience=None)
        if found is None:
            raise KeepsakeError(
                f"{name}'s memory cannot be searched now", "agents.log says why; try again"
            )
        beyond = f", without the {counted(window, 'memory')} of its window" if window else ""
        lines = [*_sources(map(source_of, found.hits))] or ["  nothing"]
        return "\n".join([f"|w{name} recalls|n {plain(shortened(words))}{beyond}", *lines])

    recaller.read_names()
    return work


def source_of(hit: Hit) -> PromptSource:
    """Return a search hit in the form that ``@why`` and the dashboard show."""
    found = hit.document
    return PromptSource(
        kind=found.kind.label,
        n=found.number,
        title=found.title,
        first=found.first,
        last=found.last,
        score=round(hit.score, 4),
        why="; ".join(hit.reasons) or "next to a hit",
        text=found.text,
        memory=found.memory() if found.kind is DocumentKind.MEMORY else None,
    )


# -- memories


def memories(query: Query) -> Callable[[], str]:
    """``@memories``: show some memories, word for word."""
    name = query.name
    archive = query.mind.memory.memory.archive
    words = query.words.replace(" ", "")
    if not re.fullmatch(r"(\d{1,9}(-\d{1,9})?)?", words):
        raise KeepsakeError(f"{quoted(words)} is not a range", "Example: @memories Mira 65-128")
    numbers = sorted(map(int, words.split("-"))) if words else []
    return lambda: _memories(name, archive, numbers)


def _memories(name: str, archive: Archive, numbers: Sequence[int]) -> str:
    newest = archive.last_number
    first, last = (numbers[0], numbers[-1]) if numbers else (max(newest - NEWEST + 1, 1), newest)
    if not newest:
        return f"{name} has no memories yet."
    if not 1 <= first <= newest:
        raise KeepsakeError(f"{name} has no memory {first}", f"Its memories are 1 to {newest}")
    last = min(last, newest, first + MOST - 1)
    title = f"|w{name}'s memories {first}-{last}|n of {newest}"
    return "\n".join([title, *memory_lines(archive.read(first, last))])


def memory_lines(memories: Iterable[Memory]) -> list[str]:
    """Return a line per memory: number, time, text. Another line shows each new day or place."""
    lines = []
    scene = ""
    clock = WorldClock.of_world()
    for memory in memories:
        when = clock.shown(memory.time)
        here = f"{when:%A %d %B %Y}" + (f", {memory.place}" if memory.place else "")
        if here != scene:
            lines.append(f"|x-- {plain(here)} --|n")
            scene = here
        reason = f" |x({plain(memory.reason)})|n" if memory.reason else ""
        lines.append(
            f"{memory.number:>6} |x{when:%H:%M}|n {_MARKS[memory.kind]}  "
            f"{plain(memory.line)}{reason}"
        )
    return lines
