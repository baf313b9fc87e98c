"""Why an agent said something, in a few lines: what it answers, its plan, its reason, its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory
from keepsake.web import world
from keepsake.web.asked.lines import short, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.said import Because, SaidLine, said, with_causes

_TRIGGERS = {
    "": "That is no longer known.",
    ImpulseKind.IDLE.value: "nobody: nothing had happened for a while",
}
"""What set a thought off, where the log's word says too little."""


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
    return [_words(line), *_because(line.because, agent.name)]


def _words(line: SaidLine) -> AnswerLine:
    text = f"“{line.words}”" if line.manner else line.words
    return AnswerLine(
        label=f"To {line.to}" if line.to else "Said",
        text=short(text),
        private=line.private,
        number=line.number,
    )


def _because(because: Because | None, name: str) -> Iterator[AnswerLine]:
    """Yield what led to it: what set it off, then the line of its prompt that has most of it."""
    if because is None:
        return
    if because.by_rule:
        yield AnswerLine(label="Because", text="a rule of the game did it; no model was asked.")
    if because.cause:
        yield _memory("Because", because.cause, name)
    if because.plan is None and because.cause is None and not because.by_rule:
        yield AnswerLine(label="Set off by", text=_TRIGGERS.get(because.trigger, because.trigger))
    if because.plan:
        plan = because.plan
        yield AnswerLine(label="For its plan", text=short(plan.line), private=plan.private)
    if because.reason:
        yield AnswerLine(label="Its reason", text=short(because.reason))
    for ground in because.grounds.lines[:1]:
        number = ground.memory.number if ground.memory else 0
        hidden = ground.memory is not None and ground.memory.confidants is not None
        yield AnswerLine(label="It knew", text=short(ground.text), private=hidden, number=number)


def _memory(label: str, memory: Memory, name: str) -> AnswerLine:
    return AnswerLine(
        label=label,
        text=told(memory, name),
        private=memory.confidants is not None,
        number=memory.number,
    )
