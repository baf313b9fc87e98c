"""A world of fifty agents, one of them with 100,000 memories, for measuring the dashboard."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.fakes.model_server import FakeModelServer
from tests.gossip import Gossip
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player
from tests.slow.e2e.running import WITH_RULES, running

AGENTS = int(os.environ.get("PAGES_AGENTS", "50"))
MEMORIES = int(os.environ.get("PAGES_MEMORIES", "100000"))
"""How many agents, and how many memories one of them has."""
_DAYS = 60
"""Over how many days those memories are spread."""
_TALK = 12_000
"""Happenings of the last days, which all agents share."""
FACTS = tuple(
    f"{first}{last}"
    for first in ("Zeb", "Quill", "Yar", "Obad", "Fenn", "Ivv", "Hald", "Merr", "Torv", "Wyn")
    for last in ("edon", "ariel", "umper", "oskin", "ithwa", "adwen")
)
_FIRST = ("Al", "Be", "Co", "Da", "El", "Fi", "Go")
_LAST = ("dric", "nora", "swin", "tamar", "vik", "zebel", "rosk")
LONG = "Mira"
PLAYERS = ("Anneke", "Tom", "Griet", "Harm")


def names() -> list[str]:
    """Return the names of all agents, the village's first."""
    village = ["Mira", "Joss", "Bram", "Oswin", "Nell", "Ruan", "Wren"]
    made = [f"{first}{last}" for first in _FIRST for last in _LAST]
    return [*village, *made][:AGENTS]


@contextmanager
def many_agents(folder: Path, tables: Path, **environ: Any) -> Iterator[Copy]:
    """Start a world with these agents and their archives, and end it afterwards."""
    with (
        FakeModelServer(models=["comma"], script=lambda _: " wait | nothing to say") as fake,
        running(
            folder,
            tables,
            llm=WITH_RULES,
            # A quarter of an hour's embedding would be measured along with the pages.
            changes=[("recall.md", "**chroma**: child", "**chroma**: none")],
            OLLAMA_HOST=fake.address,
            **environ,
        ) as copy,
    ):
        ids = _create(copy)
        assert copy.keepsake("stop").returncode == 0
        write_archives(copy.here.agents, ids)
        assert copy.keepsake("start").returncode == 0
        yield copy


def _create(copy: Copy) -> dict[str, str]:
    """Create the agents that the village lacks; return the identities of all, by name."""
    listed = copy.here.home / "identities.json"
    admin = Player.admin(copy)
    admin.see("The Kettle")
    # The last words are put together, so that the echo of the line is not taken for the answer.
    admin.type(
        "py from keepsake.contrib.evennia.creation import all_agents, create_agent; "
        f"[create_agent(n, location=self.location, profile='You live here.') for n in {names()!r}"
        " if n not in {a.key for a in all_agents()}]; "
        "[(a.attributes.remove('day'), a.attributes.add('paused', True)) for a in all_agents()]; "
        "self.msg('all are ' + 'there')",
        "all are there",
    )
    admin.type(
        "py import json, pathlib; from keepsake.agent.surroundings.identity import identity_of; "
        "from keepsake.contrib.evennia.creation import all_agents; "
        f"pathlib.Path({str(listed)!r}).write_text("
        "json.dumps({a.key: identity_of(a) for a in all_agents()})); "
        "self.msg('all are ' + 'listed')",
        "all are listed",
    )
    admin.leave()
    found: dict[str, str] = json.loads(listed.read_text())
    return found


def write_archives(agents: Path, ids: dict[str, str]) -> None:
    """Write the archive of each agent: two months of one of them, a week of all."""
    folders = {}
    for name in ids:
        folder = agents / name / "archive"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.jsonl"):
            old.unlink()
        folders[name] = folder
    people = ids | {name: f"{n}-20260101120000" for n, name in enumerate(PLAYERS, start=9001)}
    began = datetime.now(UTC) - timedelta(days=_DAYS + 12)  # nights are longer than talks
    village = Gossip(folders, people, FACTS, FACTS[::4], seed=3, began=began)
    if LONG in folders:
        village.live_long(LONG, MEMORIES, timedelta(days=_DAYS) / max(MEMORIES, 1))
    village.live(_TALK, timedelta(days=6) / _TALK)
    village.close()
