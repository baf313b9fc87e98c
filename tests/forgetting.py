"""Deletes a person's words from the folders of some agents, as the game does for all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from keepsake.erasure.archives import memories_of
from keepsake.erasure.folder import AgentCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.traces import Traces


def forget(
    folder: Path,
    person: ForgottenPerson,
    profile: str = "",
    begin: Callable[[], None] = lambda: None,
) -> Traces:
    """Delete the person's words from one agent's folder."""
    traces = Traces(person)
    traces.collect([memories_of(folder, profile=profile)])
    AgentCleaner(folder, begin=begin).clean(traces)
    return traces


def forget_all(folders: list[Path], person: ForgottenPerson) -> Traces:
    """Delete the person's words from the folders of several agents, named after them."""
    traces = Traces(person)
    traces.collect([memories_of(folder) for folder in folders])
    for folder in folders:
        AgentCleaner(folder).clean(traces)
    return traces
