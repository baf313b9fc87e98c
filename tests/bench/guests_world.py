"""A life of nine days in the game: three guests tell Mira twenty facts, two of them whispered.

The life is ``tests/data/three_guests.yaml``, 309 lines. Import this module only after the
environment of Evennia is set up.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake.agent.settings import RecallConfig
from keepsake.agent.surroundings.identity import identity_of
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.ports import FixedClock
from keepsake.prompt.sections import Rendered
from keepsake.recall.service import IndexService
from keepsake.recall.stores import CHILD
from tests.memories import did, seen
from tests.world.agents_world import FixedConfig
from tests.world.talk_world import TalkWorld

PERSONA = REPOSITORY / "world" / "agents" / "mira.md"
LIFE = Path(__file__).parents[1] / "data" / "three_guests.yaml"
BEGAN = datetime(2026, 11, 17, tzinfo=UTC)
_ASKED_AFTER = 12
"""Days from the first line to the questions; the guests have been away for some of them."""
_INDEX_SECONDS = 120.0
"""Seconds after which an index that has no vectors is a fault; Chroma starts in ten or so."""


def told() -> dict[str, Any]:
    """Return the life: people, lines and facts."""
    life: dict[str, Any] = yaml.safe_load(LIFE.read_text(encoding="utf-8"))
    return life


class Guests(TalkWorld):
    """Mira and her guests, with a real index and real embeddings."""

    def start_services(self) -> Any:
        new = super().start_services()
        embedder = MiniLMEmbedder()
        new.indexes = IndexService(new.places, CHILD, embedder)
        new.indexes.start()
        new.embedder = embedder
        settings: Any = FixedConfig(RecallConfig(patience=30.0))
        new.recall = settings
        self.time = FixedClock(BEGAN)
        new.clock = self.time
        return new

    def live(self) -> None:
        """Play all lines with the compactions that are due, then let some days pass."""
        self.spoke: list[str] = []
        self.services.update_limits()  # as the housekeeping of a game does
        self.mira.db.profile = frontmatter.loads(PERSONA.read_text("utf-8")).content
        self.room1.key = "The Kettle"
        life = told()
        self.guests = {name: self.add_player(10 + n, name) for n, name in enumerate(life["people"])}
        self.char1.location = None
        self.char2.location = None
        self.mind.preview(self.mira, self.guests["Jonas"], "Hello.")
        self.mira.db.paused = True
        compactions = self.mind.compactions
        for line in life["lines"]:
            self._happen(line)
            compactions.compact_if_due()  # as the housekeeping does
            self.settle(lambda: not compactions.compacting, 900.0)
        self.mind.read_edits()
        self._wait_for_vectors()
        self.mira.attributes.remove("paused")
        self.time.time = BEGAN + timedelta(days=_ASKED_AFTER, hours=18, minutes=30)

    def prompt(self, who: str, words: str) -> Rendered:
        """Return the prompt as if one of the guests, who is alone with Mira, said ``words``."""
        shown: list[Rendered] = []
        guest = self.guests[who]
        for other in [each for each in self.room1.contents if each.has_account]:
            other.location = None
        guest.location = self.room1
        found = self.mind.preview(self.mira, guest, words)
        found.addCallback(lambda prompt: shown.append(prompt[0]))
        self.settle(lambda: bool(shown))
        guest.location = None
        return shown[0]

    def _wait_for_vectors(self) -> None:
        """Wait until all memories can be found by meaning, as after some minutes of a game."""
        indexes = self.services.indexes
        assert indexes is not None
        (name,) = indexes.status()
        index = indexes.open(name, Path())  # it is open already
        lines = len(told()["lines"])
        until = time.monotonic() + _INDEX_SECONDS
        while True:
            index.refresh()
            counts = index.words.counts()
            if counts.memories >= lines and not counts.waiting and index.status().by_meaning:
                return
            assert time.monotonic() < until, index.status()
            indexes.follow()
            time.sleep(0.2)

    def _happen(self, line: dict[str, Any]) -> None:
        hours, minutes = map(int, str(line["time"]).split(":"))
        when = BEGAN + timedelta(days=line["day"] - 1, hours=hours, minutes=minutes)
        self.time.time = max(when, self.time.time)
        memory = self.mind.memory
        who = line["who"]
        if who == "Mira":
            last = next((each for each in reversed(self.spoke) if each), "")
            memory.remember(did(_own(line, last), last), place="The Kettle")
            return
        facts = {"source": who, "source_id": identity_of(self.guests[who])}
        event = ""
        if "say" in line:
            text = f'{who} says to you, "{line["say"]}"'
            event = "talk"
        elif "whisper" in line:
            text = f'{who} whispers to you, "{line["whisper"]}"'
            event = "whisper"
        else:
            text = str(line.get("event") or f"{who} {line['emote']}")
            event = "pose" if "emote" in line else ""
        self.spoke.append(who)
        memory.remember(seen(text, **facts, event=event), place="The Kettle", event=event)


def _own(line: dict[str, Any], to: str) -> str:
    if "whisper" in line:
        return f"whisper {to} = {line['whisper']}"
    return f"say {line['say']}" if "say" in line else f"emote {line['emote']}"
