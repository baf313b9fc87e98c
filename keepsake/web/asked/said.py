"""Why an agent said something, in a few lines: what it answers, its plan, its reason, its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory
from keepsake.happening import Deed, KnownVerb
from keepsake.language.perception import one_line
from keepsake.web import world
from keepsake.web.asked.lines import day_and_hour, in_quotes, line_of, short, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.gist import answered, beginning
from keepsake.web.privacy import kept_for, privacy_of
from keepsake.web.questions.clock import by_the_clock
from keepsake.web.questions.grounds import Ground
from keepsake.web.questions.motive import Motive
from keepsake.web.questions.said import Because, SaidLine, said, with_causes
from keepsake.web.searching import words_of

_TRIGGERS = {
    "": "That is no longer known.",
    ImpulseKind.IDLE.value: "nobody: nothing had happened for a while",
}
"""What set a thought off, where the log's word says too little."""
_NOTED: Mapping[str, str] = {
    KnownVerb.PROMISE: "It had promised",
    KnownVerb.REMEMBER: "It had noted",
    KnownVerb.PIN: "It had pinned",
}
"""What it did that is told by its words alone."""


def why_said(agent: KnownAgent, words: str) -> Sequence[AnswerLine]:
    """Return the newest that an agent said to whom, or with what, words name, and why; blocks.

    Args:
        agent: Its memory is open.
        words: As for :func:`keepsake.web.questions.said.said`; empty for the newest of all.

    Returns:
        Its words first; nothing if it said nothing of the kind.
    """
    assert agent.mind is not None
    kept = agent.mind.memory
    found = said(kept.folder, agent.name, words)
    newest = (*found.to_them, *found.others)[:1]
    if not newest:
        return ()
    one = replace(found, to_them=newest, others=())
    archive = kept.memory.archive
    folders = world.folders()
    known = with_causes(
        one, archive, agent.name, agent.id, places=runtime().places, folders=folders
    )
    (line,) = known.to_them
    return [_words(line, words_of(words)), *_because(line.because, agent.name)]


def _words(line: SaidLine, asked: Collection[str]) -> AnswerLine:
    """Return what it said, of long words the part with those that were asked for."""
    asked = frozenset(asked)
    return line_of(
        f"To {line.to}" if line.to else "Said",
        line.words,
        answered(line.words, lambda part: len(asked.intersection(words_of(part)))),
        in_quotes if line.manner else str,
        private=line.private,
        number=line.number,
    )


def _because(because: Because | None, name: str) -> Iterator[AnswerLine]:
    """Yield what led to it: what set it off, then what the agent had reason to think of."""
    if because is None:
        return
    if because.by_rule:
        yield AnswerLine(label="Because", text="a rule of the game did it; no model was asked.")
    if because.cause:
        yield _of_memory("Because", because.cause, name, because.answered)
    for each in because.grounds.goes_on[-1:]:
        yield _of_memory("Just before", each.memory, name)
    if because.plan is None and because.cause is None and not because.by_rule:
        yield AnswerLine(label="Set off by", text=_TRIGGERS.get(because.trigger, because.trigger))
    if because.plan:
        plan = because.plan
        hidden = kept_for(plan.confidants) if plan.private else ""
        yield AnswerLine(label="For its plan", text=short(by_the_clock(plan.line)), private=hidden)
    if because.reason:
        yield AnswerLine(label="Its reason", text=short(because.reason))
    if because.grounds.motive:
        yield _motive(because.grounds.motive)
        return
    for ground in because.grounds.lines[:1]:
        yield _ground(ground)


def _ground(ground: Ground) -> AnswerLine:
    """Return the line of its prompt that has most of it; a promise and a note as what they say."""
    what = ground.memory.what if ground.memory else None
    text = " ".join(what.objects) if isinstance(what, Deed) and what.verb in _NOTED else ""
    text = text or ground.text
    return line_of(
        _NOTED.get(what.verb, "It knew") if isinstance(what, Deed) else "It knew",
        text,
        beginning(text),
        private=privacy_of(ground.memory) if ground.memory else "",
        number=ground.memory.number if ground.memory else 0,
    )


def _motive(motive: Motive) -> AnswerLine:
    """Return what it had reason to think of: who told it when, and the part that bears on it."""
    memory = motive.memory
    when = [day_and_hour(memory.time, runtime().clock.now())] if memory else []
    return line_of(
        motive.label,
        motive.text,
        motive.part,
        motive.told,
        aside=", ".join(filter(None, (*when, motive.note))),
        private=motive.privacy,
        number=memory.number if memory else 0,
    )


def _of_memory(label: str, memory: Memory, name: str, part: str = "") -> AnswerLine:
    """Return what was said, or else happened; ``part``: that which stands for long words."""
    words = one_line(memory.words)
    return line_of(
        label,
        words,
        part or words,
        partial(told, memory, name),
        private=privacy_of(memory),
        number=memory.number,
    )
