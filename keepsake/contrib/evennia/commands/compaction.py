"""Builders compact an agent's memory, list its compactions, and undo the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from keepsake.agent.memory.compacting import CompactionEnd
from keepsake.agent.mind import ActionResult
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.contrib.evennia.commands.base import BuilderCommand, Query, plain, table, tell
from keepsake.errors import CompactionError, CompactionRunning
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.memory.history import PastCompaction, compactions
from keepsake.memory.types import UndoResult


class CmdCompactMemories(BuilderCommand):
    """Compact an agent's memory now, whether it is due or not.

    Usage:
      @compact-memories [<agent>]   without a name: the agent in the room

    The oldest memories of its window are summarised until the prompt is under its
    low mark. Pins, promises, the open talk and the newest memories stay word for
    word. A single memory is not summarised. If the persona and the commands alone
    fill the prompt, nothing is compacted, and the answer says what to raise. The
    archive keeps every memory, and |w@compaction/undo|n undoes a compaction.
    Settings are in |wvault/config/memory_compaction.md|n.

    Example:
      @compact-memories mira

    See also: |whelp @agent|n, |whelp @memory-status|n
    """

    key = "@compact-memories"
    aliases = ("@compact-memory",)

    def run(self) -> None:
        """Start the compaction; show its outcome when it is done."""
        agent = self.agent_named(self.args)
        caller = self.caller
        tell(caller, f"Compacting {agent.key}'s memory …")
        outcome = self.mind(agent).compactions.compact(CompactReason.MANUAL)
        outcome.addCallback(lambda each: tell(caller, _coloured(compaction_result(each))))


def compaction_result(outcome: CompactionEnd) -> ActionResult:
    """Return the outcome of a compaction, in words."""
    if isinstance(outcome, CompactionRunning):
        return False, f"Not now: {outcome}"
    if isinstance(outcome, CompactionError):
        return False, f"The compaction failed: {outcome}"
    if outcome.outcome is CompactionOutcome.NOTHING:
        return True, f"Nothing to compact: {outcome.detail}"
    before = outcome.tokens_before
    after = outcome.tokens_after
    how = "Compacted" if after < before else "No tokens saved"
    return after < before, f"{how}: {outcome.detail}; {before:,} tokens before, {after:,} now"


def undo_result(outcome: UndoResult | CompactionError) -> ActionResult:
    """Return the outcome of an undo, in words."""
    if isinstance(outcome, CompactionError):
        return False, f"Nothing was undone: {outcome}"
    left = f"{outcome.left} more can be undone" if outcome.left else "No other is left"
    stays = "None is made by itself until @compact-memories makes the next"
    return True, f"Undid compaction {outcome.number}: {outcome.detail}. {left}. {stays}"


def _coloured(result: ActionResult) -> str:
    done, said = result
    return f"{'|g' if done else '|r'}{plain(said)}|n"


def view(query: Query) -> Callable[[], str] | None:
    """``@compaction``: list the compactions, or undo the last one and show the outcome."""
    mind = query.mind
    caller = query.caller
    name = query.name
    if "undo" in query.options:
        mind.compactions.undo().addCallback(lambda each: tell(caller, _coloured(undo_result(each))))
        return None
    archive = mind.memory.memory.archive
    return lambda: _listed(name, compactions(archive))


def _listed(name: str, past: Sequence[PastCompaction]) -> str:
    if not past:
        return f"{name}'s memory has not been compacted yet."
    heads = ("No", "When", "Why", "Memories", "Tokens", "Calls", "Secs", "")
    rows = map(partial(_row, WorldClock.of_world()), past)
    return f"|wCompactions of {name}'s memory|n\n{table(heads, rows)}"


def _row(clock: WorldClock, past: PastCompaction) -> tuple[str, ...]:
    return (
        str(past.number),
        f"{clock.shown(past.time):%m-%d %H:%M}",
        past.reason,
        "-".join(map(str, past.covered)) if past.covered else "none",
        f"{past.tokens_before} > {past.tokens_after}",
        str(past.calls),
        f"{past.seconds:.1f}",
        "undone" if past.undone else "",
    )
