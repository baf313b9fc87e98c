"""Builders look at what an agent remembers, and compact it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from keepsake.agent.memory.memory import Compacted, MemoryComponent
from keepsake.agent.runtime import runtime
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.records import Summary
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.commands import figures
from keepsake.contrib.evennia.commands.base import (
    BuilderCommand,
    ago,
    plain,
    shortened,
    table,
    when,
)
from keepsake.contrib.evennia.commands.compaction import take_back
from keepsake.contrib.evennia.commands.recall import author_of
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.memory.types import CompactReason, MemoryContext, MemoryStatus, Outcome
from keepsake.prompt.sections import Rendered, chart, costs_of
from keepsake.recall.agent_index import IndexStatus


class CmdCompactMemories(BuilderCommand):
    """Compact an agent's memory now, whether it is due or not.

    Usage:
      @compact-memories [<agent>]        the agent in the room without a name
      @compact-memories/undo [<agent>]   take the last compaction back

    Old memories become a summary until the prompt is under its low mark. Pins, the
    talk that is going on and the newest memories stay word for word. The archive
    keeps every memory. Settings: |wvault/config/memory_compaction.md|n.

    Example:
      @compact-memories mira

    See also: |whelp @agent|n, |whelp @memory-status|n
    """

    key = "@compact-memories"
    aliases = ("@compact-memory",)
    switch_options = ("undo",)

    def run(self) -> None:
        """Start the compaction; its outcome is told when it is there."""
        agent = self.agent_named(self.args)
        name, caller, memory = agent.key, self.caller, self.mind(agent).memory
        if "undo" in self.switches:
            take_back(name, memory, caller)
            return
        caller.msg(f"Compacting {name}'s memory …")

        def done(outcome: Compacted) -> None:
            caller.msg(_outcome(name, outcome))

        memory.compact(CompactReason.MANUAL, done)


def _outcome(name: str, outcome: Compacted) -> str:
    if isinstance(outcome, CompactionError):
        return f"|rCompaction of {name}'s memory failed:|n {plain(str(outcome))}"
    if outcome.outcome is Outcome.NOTHING:
        return f"Nothing to compact for {name}: {plain(outcome.detail)}."
    head = (
        f"|gCompacted {name}'s memory|n ({outcome.outcome}): {plain(outcome.detail)}. "
        f"{counted(outcome.kept, 'memory')} {'stays' if outcome.kept == 1 else 'stay'} verbatim."
    )
    see = f"  Before and after: @compaction {name} {outcome.number}"
    facts = [*figures.of_compaction(outcome, f"by {plain(outcome.model) or 'nobody'}")]
    facts.append(("Archive", plain(str(outcome.position))))
    return "\n".join([head, figures.labelled(facts, 10), see])


class CmdMemoryStatus(BuilderCommand):
    """See what an agent remembers, and whether all of it is there.

    Usage:
      @memory-status                  all agents, and the one in the room
      @memory-status <agent>          tiers, next compaction, summaries, sizes
      @memory-status/tokens [<agent>] the cost of each section of the prompt

    The integrity report says whether the archive is whole, the tiers cover every
    memory once, and the summaries in the vault are those of the archive.

    Example:
      @memory-status/tokens mira

    See also: |whelp @agent|n, |whelp @compact-memories|n
    """

    key = "@memory-status"
    switch_options = ("tokens",)

    def run(self) -> None:
        """Show one agent, or all."""
        if "tokens" in self.switches:
            self._tokens(self.agent_named(self.args))
        elif self.args.strip():
            self._show(self.agent_named(self.args))
        else:
            self.caller.msg(self._all())
            if len(here := self.agents_here()) == 1:
                self._show(here[0])

    def _tokens(self, agent: AgentMixin) -> None:
        """Weigh the very prompt that the agent would send now."""
        mind, caller, shared = self.mind(agent), self.caller, runtime()
        config = shared.compaction.current
        marks = {"low": config.low, "high": config.high, "emergency": config.emergency}

        def show(found: tuple[Rendered, int]) -> None:
            prompt, budget = found
            lines = chart(costs_of(prompt, shared.tokens, budget), marks)
            sent = mind.thinker.log.sent
            if sent is not None and sent.answer is not None:
                ours, true = sent.costs.used, sent.answer.prompt_tokens
                lines.append(f"The last prompt: {ours:,} by our count, {true:,} by the server's.")
            title = f"|w{agent.key}'s prompt|n"
            caller.msg("\n".join([title, *map(plain, lines)]))

        mind.thinker.preview(agent).addCallbacks(show, self.failed)

    def _all(self) -> str:
        rows = [self._row(agent) for agent in all_agents()]
        shown = table(
            ("Agent", "Memories", "Window", "Load", "Next at", "Compacted", "State"), rows
        )
        return shown if rows else "There are no agents. Make one with @agent/create."

    def _row(self, agent: AgentMixin) -> list[str]:
        mind = self.mind(agent)
        try:
            status, load = mind.memory.memory.status(), mind.memory.memory.load()
        except KeepsakeError as error:
            return [agent.key, "?", "?", "?", "?", "?", plain(shortened(str(error)))]
        return [
            agent.key,
            str(status.total),
            str(status.window),
            f"{load.share:.0%}",
            "never" if status.next_due is None else str(status.next_due),
            ago(status.last_compaction, datetime.now(UTC)),
            "compacting" if status.running else mind.thinker.state.value,
        ]

    def _show(self, agent: AgentMixin) -> None:
        memory, caller = self.mind(agent).memory, self.caller
        name = agent.key
        head = describe(name, memory)

        def done(report: IntegrityReport | KeepsakeError) -> None:
            # Edits by hand are taken over by the check, so the texts are shown after it.
            texts = "".join(_summary(summary) for summary in memory.context().summaries)
            caller.msg(f"{head}\n{integrity_line(report)}\n{texts}".rstrip())

        memory.check(done)


def describe(name: str, component: MemoryComponent) -> str:
    """The figures of a memory, a line each.

    Raises:
        KeepsakeError: The memory cannot be opened.
    """
    return f"|w{name}'s memory|n\n{figures.labelled([*_facts(component)])}"


def _facts(component: MemoryComponent) -> Iterator[tuple[str, str]]:
    memory, now = component.memory, datetime.now(UTC)
    status, load = memory.status(), memory.load()
    yield "Memories", f"{status.total}"
    yield "Window", _window(memory.context())
    weighed = "" if load.overhead else "; the rest is known after its first act"
    yield "Prompt", f"{figures.load(load)}{weighed}"
    yield "Counted by", runtime().tokens.source
    yield "Next compaction", _due(status)
    yield "Last compaction", _last(status, now)
    if status.last_number:
        yield "  its check", figures.verdict(status.last_verdict)
    if promises := component.commitments.lines:
        yield "Promises", f"{len(promises)} in {plain(str(component.commitments.path))}"
    yield "On disk", _sizes(component)
    indexes = runtime().indexes
    if indexes is not None and (index := indexes.status_of(component.folder.name)) is not None:
        yield "Recall", _recall(index)
    if status.failures:
        retry = f"; next try {status.retry_at:%H:%M:%S} UTC" if status.retry_at else ""
        yield (
            "|rFailed|n",
            f"{counted(status.failures, 'time')}: {plain(status.last_failure)}{retry}",
        )
    if problem := component.problem:
        yield (
            "|rNot written|n",
            f"{counted(component.waiting, 'memory')} in RAM. {plain(str(problem))}",
        )
    if component.no_room is not None:
        yield "|rNo room|n", plain(str(component.no_room))


def _recall(index: IndexStatus) -> str:
    late = f" ({index.waiting} documents by words alone so far)" if index.waiting else ""
    how = f"by words and meaning{late}" if index.by_meaning else "by words"
    return f"{how}. |r{plain(index.problem)}|n" if index.problem else how


def _last(status: MemoryStatus, now: datetime) -> str:
    if status.last_compaction is None:
        gone = f"; {counted(status.compactions, 'compaction')} taken back or cleared"
        return f"none{gone if status.compactions else ''}"
    return f"{when(status.last_compaction, now)}, {status.compactions} in all"


def _window(context: MemoryContext) -> str:
    if not context.window:
        return "empty"
    first, last = context.window[0].number, context.window[-1].number
    return f"{len(context.window)} verbatim (memories {first}-{last})"


def _due(status: MemoryStatus) -> str:
    if status.running:
        return "under way"
    if status.next_due is None:
        return "never"
    left = status.next_due - status.total
    return f"at memory {status.next_due} " + (f"({left} more)" if left > 0 else "(due now)")


def _sizes(component: MemoryComponent) -> str:
    memory = component.memory
    files = list(component.summaries.folder.glob("*.md"))
    summaries = sum(path.stat().st_size for path in files)
    return (
        f"archive {memory.archive.size() / 1000:.1f} kB, summaries {summaries / 1000:.1f} kB "
        f"in {counted(len(files), 'file')} ({plain(str(component.folder))})"
    )


def integrity_line(report: IntegrityReport | KeepsakeError) -> str:
    """The integrity report, problems first."""
    if isinstance(report, KeepsakeError):
        told = f"|rcould not be checked|n: {plain(str(report))}"
    elif report.whole:
        told = (
            f"|gwhole|n: {counted(report.memories, 'memory')} in "
            f"{counted(report.lines, 'archive line')}, each in "
            "exactly one tier; the files match"
        )
    else:
        found = f"|r{counted(len(report.problems), 'problem')}|n"
        listed = "".join(f"\n    - {plain(problem)}" for problem in report.problems)
        return figures.labelled([("Integrity", found)]) + listed
    return figures.labelled([("Integrity", told)])


def _summary(summary: Summary) -> str:
    title = "Long-term summary" if summary.tier.value == "longterm" else "Short-term summary"
    return (
        f"\n|w{title}|n (memories {summary.first}-{summary.last}, {author_of(summary.model)}, "
        f"{len(summary.text)} chars)\n{plain(summary.text)}\n"
    )
