"""Why an agent did something: one act and all that led to it, from the archive and the event log.

The archive has the acts and their words. The event log has the thought: its trigger, what was
recalled for it, which summaries were in its prompt, and what it cost. What is missing in both is
reported as missing, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from keepsake.agent.plans.past_plans import PastPlan, plans_at
from keepsake.agent.turns.prompts.held import masked_in, unheld_in
from keepsake.agent.why.basis import (
    PromptSource,
    SummaryBasis,
    matter_of,
    memory_of,
    source_of,
    summary_basis,
)
from keepsake.agent.why.causes import answered_by, set_off_by
from keepsake.agent.why.logged_thoughts import events_before, thought_in, thought_of
from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.archive.tiers import SummaryState
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.prompts import prompt_text
from keepsake.events.types import Agreement, Consent, Guard, Thought
from keepsake.happening import Result
from keepsake.json_lines import Record, parsed
from keepsake.memory.history import compactions, summaries_at

MOST_BACK = 1000
"""The largest ``n`` of :func:`why_did`."""
MOST_RESULTS = 20
"""The number of memories after an act among which its results are searched."""
_NOT_LOGGED = (
    "The newest part of the event log does not have this act: its trigger, what was recalled "
    "for it and what it cost are not known. The summaries are those of its time"
)
_BY_RULE: Mapping[str, str] = {
    MessageType.SCENE: "its ordinary day",
    MessageType.HEARSAY: "hearsay that it passed on",
    MessageType.DEED: "a deed",
}
_WITHOUT_MODEL = _BY_RULE.keys() | {MessageType.COURTESY}
"""The ``event`` of acts by rule. Only a courtesy has a thought, which says what set it off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One act of an agent, and what led to it."""

    agent: str
    nth: int  # its position among the last acts: 1 is the last
    time: datetime
    command: str  # what the agent did
    reason: str  # the private reason that the agent gave
    seq: int = 0  # number of the thought's event in the log; 0 if the log has none
    trigger: str = ""  # what set it off; empty if that is not known
    # the memory that set it off, or what was said since that it answers; None if not known
    cause: Memory | None = None
    act: Memory  # the memory of the act
    recalled: tuple[PromptSource, ...] = ()  # what was recalled for it, and was in the prompt
    summaries: tuple[SummaryBasis, ...] = ()  # the summaries in the prompt, long-term first
    # first and last memory of the window; None if that is not known
    window: tuple[int, int] | None = None
    # whispers of the window of which its prompt had only that they were whispered: most because not
    # all who heard the act may know them; None if the prompt is not known
    masked: tuple[int, ...] | None = None
    # telling words of the act that its prompt has nowhere, at most five
    unheld: tuple[str, ...] = ()
    thought: Thought | None = None  # the event of its thought; None if the log has none
    guards: tuple[Guard, ...] = ()  # parts of its answers that were altered, refused or dropped
    # what a small model was asked that its answer agrees to
    agreements: tuple[Agreement, ...] = ()
    # what the model was asked about words to somebody who did not know what was whispered
    consents: tuple[Consent, ...] = ()
    missing: tuple[str, ...] = ()  # what is no longer known, and why; a sentence each
    failed: tuple[str, ...] = ()  # why the act was not carried out, as the agent was told
    # whether a rule did it: there was no prompt, and no model was asked
    by_rule: bool = False
    # the plans that stood in the prompt; None if that is not known
    plans: tuple[PastPlan, ...] | None = None
    plan: PastPlan | None = None  # the plan that the act belongs to; None if it belongs to none

    @property
    def is_logged(self) -> bool:
        """Whether the event log has its thought: else what was recalled for it is not known."""
        return self.thought is not None


def why_did(log: Path, archive: Archive, agent: str, agent_id: int, n: int = 1) -> Why:
    """Return what led to the ``n``-th last act of an agent; blocks, for a second at most.

    ``agent``: The agent's name.
    ``agent_id``: The agent's id in the log.
    ``n``: The position of the act; 1 is the last.

    Raises:
        KeepsakeError: There is no such act, or the log cannot be read.
    """
    if not 1 <= n <= MOST_BACK:
        what = f"There is no act {n}: acts are counted back from the last one, which is 1"
        raise KeepsakeError(what, f"Ask for 1 to {MOST_BACK}")
    with _log_readable(log):
        found = [*islice(_acts_back(archive), n)]
        if not found:
            raise KeepsakeError(f"{agent} has not done anything yet", "Talk to it, or wait a while")
        if len(found) < n:
            what = f"Only {len(found):,} of {agent}'s acts are known"
            raise KeepsakeError(what, "Ask for a smaller number")
        return _why(log, archive, found[-1], agent=agent, agent_id=agent_id, nth=n)


def why_memory(log: Path, archive: Archive, agent: str, agent_id: int, number: int) -> Why:
    """Return what led to the act that is memory ``number``; blocks, as :func:`why_did`.

    Raises:
        KeepsakeError: That memory is no act, or the log cannot be read.
    """
    with _log_readable(log):
        act = memory_of(archive, number)
        if act is None or not act.is_own:
            what = f"Memory {number} of {agent} is no act of its own"
            raise KeepsakeError(what, "Give the number of something that it did or said")
        after = takewhile(lambda each: each.number > number, _acts_back(archive))
        nth = 1 + sum(1 for _ in after)
        return _why(log, archive, act, agent=agent, agent_id=agent_id, nth=nth)


def act_of(archive: Archive, happening: str) -> int:
    """Return the number of the agent's own act that is this happening; 0 if none is; blocks.

    ``happening``: Its id, which all who perceived the act have in their archives.
    """
    wanted = f'"{happening}"'.encode()
    found = (parsed(line) for line in archive.lines_back() if wanted in line)
    acts = (each for each in memories_in(found) if each.is_own and each.happening == happening)
    return next((each.number for each in acts), 0)


def _log_readable(log: Path) -> AbstractContextManager[None]:
    return refusing(f"The event log in {log} cannot be read", "Fix the permissions or the disk")


def _acts_back(archive: Archive) -> Iterator[Memory]:
    """Yield the agent's acts, newest first."""
    lines = (line for line in archive.backwards() if line.get("kind") == MemoryKind.ACT.value)
    return memories_in(lines)


def _why(log: Path, archive: Archive, act: Memory, *, agent: str, agent_id: int, nth: int) -> Why:
    """Return what led to an act: from the log if it has the thought, else from the archive."""
    record = None if act.event in _BY_RULE else thought_of(act, log, agent_id)
    thought = thought_in(record) if record else None
    if record and thought:
        facts = _logged(log, archive, record, thought, act)
    else:
        facts = _archived(archive, act)
    failed = _failures(archive, act)
    return Why(
        agent=agent,
        nth=nth,
        command=act.text,
        act=act,
        failed=failed,
        plan=plans_at(archive, act.time).get(act.plan) if act.plan else None,
        **facts,
    )


def _failures(archive: Archive, act: Memory) -> tuple[str, ...]:
    """Return what the agent was told if its act failed: a refusal, or words that nobody heard."""
    after = archive.read(act.number + 1, act.number + MOST_RESULTS)
    return tuple(
        each.text
        for each in after
        if isinstance(each.what, Result) and each.what.act == act.number and not each.what.done
    )


def _logged(
    log: Path, archive: Archive, record: Record, thought: Thought, act: Memory
) -> dict[str, Any]:
    """Return what led to an act, from the thought in the log and the archive; blocks."""
    seq = int(record["seq"])
    prompt = prompt_text(log, thought.prompt, seq) if thought.prompt else None
    missing = []
    if thought.prompt and prompt is None:
        missing.append("Its prompt is no longer in the event log: its file was removed")
    by_rule = not thought.prompt and not thought.model
    past = compactions(archive)
    time = datetime.fromisoformat(str(record["t"]))
    window = (thought.recent + 1, thought.total) if thought.total and not by_rule else None
    texts = summaries_at(archive, time)
    if texts.standing != thought.compaction:  # compacted, or undone, while the model thought
        made = (each.after for each in past if each.number == thought.compaction)
        texts = next(made, SummaryState())
        if thought.compaction and not texts.standing:
            number = thought.compaction
            missing.append(f"The archive has no compaction {number}, whose summaries it used")
    return {
        "time": time,
        "summaries": () if by_rule else summary_basis(texts, act, thought.reason),
        "reason": thought.reason,
        "seq": seq,
        "trigger": thought.trigger,
        "cause": answered_by(archive, act, memory_of(archive, thought.cause)),
        "recalled": tuple(source_of(each, archive, past, prompt) for each in thought.recalled),
        "window": window,
        "masked": masked_in(prompt, archive.read(*window)) if prompt and window else None,
        "unheld": unheld_in(prompt, matter_of(act)) if prompt else (),
        "thought": thought,
        "guards": events_before(log, thought, seq, Guard),
        "agreements": events_before(log, thought, seq, Agreement),
        "consents": events_before(log, thought, seq, Consent),
        "missing": tuple(missing),
        "by_rule": by_rule,
        "plans": _plans_in(prompt, archive, time - timedelta(seconds=thought.latency)),
    }


def _plans_in(prompt: str | None, archive: Archive, sent: datetime) -> tuple[PastPlan, ...] | None:
    """Return the plans that stood in a prompt; None if the log does not have the prompt.

    The prompt's text has no borders of sections. So the plans of that time are looked for in it.
    """
    if prompt is None:
        return None
    plans = plans_at(archive, sent).values()
    return tuple(each for each in plans if not each.state.has_ended and each.line in prompt)


def _archived(archive: Archive, act: Memory) -> dict[str, Any]:
    """Return what led to an act, from the archive alone; blocks."""
    facts = {"time": act.time, "reason": act.reason, "trigger": _BY_RULE.get(act.event, "")}
    if act.event in _WITHOUT_MODEL:
        return {**facts, "by_rule": True}
    texts = summaries_at(archive, act.time)
    return {
        **facts,
        # What it does for a plan, somebody's words need not have set off.
        "cause": None if act.plan else set_off_by(archive, act),
        "summaries": summary_basis(texts, act, act.reason),
        "window": (texts.summarised + 1, act.number - 1),
        "missing": (_NOT_LOGGED,),
    }
