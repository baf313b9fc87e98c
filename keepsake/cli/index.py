"""``keepsake index rebuild``: makes the recall index of agents again, from their archives."""

from __future__ import annotations

from keepsake import vault_lock
from keepsake.cli import processes
from keepsake.cli.processes import Component
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places
from keepsake.recall.agent_index import WORDS
from keepsake.recall.index.words import WordIndex


def rebuild(here: Places, agent: str = "") -> tuple[list[str], bool]:
    """Rebuild the index of one agent, or with an empty name of all agents.

    A running world rebuilds in the background. Otherwise the index is deleted, and the next start
    rebuilds it.

    Returns:
        The names of the agents' folders, and whether the running world rebuilds them now.

    Raises:
        KeepsakeError: No agent has that name, or another process uses the vault.
    """
    if processes.newest(here, Component.SERVER):
        return processes.ask(here, f"index_rebuild {agent}".strip()), True
    found = sorted(path.parent.name for path in here.index.glob(f"*/{WORDS}"))
    names = [name for name in found if agent.casefold() in ("", name.casefold())]
    if agent and not names:
        there = ", ".join(found) or "none"
        raise KeepsakeError(f"No agent {agent!r} has an index", f"These have one: {there}")
    if names:
        with (
            vault_lock.take(here, patience=0),
            refusing("The index could not be deleted", "Fix the permissions, and try again"),
        ):
            for name in names:
                WordIndex(here.index / name / WORDS).delete()
    return names, False
