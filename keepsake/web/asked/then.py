"""What an agent remembered at a time, in a few lines: what it said last, what it meant to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.plan import PlanState
from keepsake.happening import HappeningKind
from keepsake.web.asked.lines import by_the_clock, short, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.fact_shapes import AsOfView
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown

MEANT = 2
"""The plans and promises that are shown; how many there are besides is said."""


def then(agent: KnownAgent, was: AsOfView) -> Sequence[AnswerLine]:
    """Return what an agent remembered at a time.

    Args:
        agent: Its memory is open.
        was: Its memory of that time.
    """
    if not was.number:
        return ()
    said, heard = _spoken(agent, was)
    return [*said, *_meant(was), *heard, _held(was)]


def _spoken(agent: KnownAgent, was: AsOfView) -> tuple[Sequence[AnswerLine], Sequence[AnswerLine]]:
    """Return the newest words of its own, and the newest that it heard; each may be missing."""
    spoken = [each for each in was.window if each.form is HappeningKind.SPEECH]
    own = [each.number for each in spoken if not each.source]
    heard = [each.number for each in spoken if each.source]
    assert agent.mind is not None
    archive = Archive(agent.mind.memory.folder / "archive", read_only=True)
    found = archive.read_each([*own[-1:], *heard[-1:]])

    def lines(label: str, newest: Sequence[int]) -> Sequence[AnswerLine]:
        return [
            AnswerLine(
                label=label,
                text=told(each, agent.name),
                aside=_when(each),
                private=each.confidants is not None,
                number=each.number,
            )
            for each in (found[number] for number in newest if number in found)
        ]

    return lines("Said last", own[-1:]), lines("Heard last", heard[-1:])


def _when(memory: Memory) -> str:
    where = f", at {memory.place}" if memory.place else ""
    return f"{as_shown(memory.time):%H:%M:%S}{where}"


def _meant(was: AsOfView) -> Iterator[AnswerLine]:
    """Yield its open plans and promises: what was begun, then what was planned last."""
    plans = sorted(reversed(was.plans), key=lambda each: each.state is not PlanState.DOING)
    meant = [
        *map(_plan, plans),
        *(
            AnswerLine(label="Promised", text=short(p.line), private=p.private, number=p.memory)
            for p in was.promises
        ),
    ]
    if not meant:
        yield AnswerLine(label="Meant to", text="No plan or promise was open.")
    yield from meant[:MEANT]
    if len(meant) > MEANT:
        yield AnswerLine(label="", text=f"and {len(meant) - MEANT} more")


def _plan(plan: PastPlan) -> AnswerLine:
    when = plan.line.removesuffix(plan.what).removesuffix(": ")
    return AnswerLine(
        label="Meant to",
        text=short(plan.what),
        aside=by_the_clock(when),
        private=plan.private,
    )


def _held(was: AsOfView) -> AnswerLine:
    """Return what its prompts had: memories word for word, and summaries of the older ones."""
    word = was.number - was.window_first + 1
    told = was.window_first - 1
    parts = [f"{word:,} memories word for word"] if word > 0 else []
    if was.recent or was.longterm:
        parts.append(f"a summary of the {told:,} before")
    return AnswerLine(label="In mind", text=f"{' and '.join(parts) or 'Nothing'}.")
