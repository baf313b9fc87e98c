"""How many facts that guests told an agent are in the prompt when they ask, after compactions.

The life is ``tests/data/three_guests.yaml``: 309 lines of nine days with twenty facts, two of them
whispered. Then each guest asks for the facts that they told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures
from tests.memories import did, seen

PERSONA = REPOSITORY / "world" / "agents" / "mira.md"
LIFE = Path(__file__).parents[1] / "data" / "three_guests.yaml"
BEGAN = datetime(2026, 11, 17, tzinfo=UTC)
_SECONDS = 1800
_ASKED_AFTER = 12
"""Days from the first line to the questions; the guests have been away for some of them."""


def measure() -> Iterator[Figure]:
    """Count which of the twenty facts are in the prompt of their question."""
    yield from figures_of(__name__, seconds=_SECONDS)


def _figures() -> list[Figure]:  # noqa: C901 - defines a world
    """Play the lines, and ask the questions."""
    from keepsake.agent.settings import RecallConfig  # noqa: PLC0415
    from keepsake.agent.surroundings import identity_of  # noqa: PLC0415
    from keepsake.models.embedders import MiniLMEmbedder  # noqa: PLC0415
    from keepsake.ports import FixedClock  # noqa: PLC0415
    from keepsake.recall.service import CHILD, IndexService  # noqa: PLC0415
    from tests.world.agents_world import FixedConfig  # noqa: PLC0415
    from tests.world.test_talk_world import TalkWorld  # noqa: PLC0415

    told = yaml.safe_load(LIFE.read_text(encoding="utf-8"))
    figures: list[Figure] = []

    class Guests(TalkWorld):
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

        def measure(self) -> None:
            self.services.update_limits()  # as the housekeeping of a game does
            self.mira.db.profile = frontmatter.loads(PERSONA.read_text("utf-8")).content
            self.room1.key = "The Kettle"
            guests = {name: self.add_player(10 + n, name) for n, name in enumerate(told["people"])}
            self.char1.location = self.char2.location = None
            self.mind.thinker.preview(self.mira, guests["Jonas"], "Hello.")
            self.mira.db.paused = True
            memory = self.mind.memory
            compactions = self.mind.compactions
            for line in told["lines"]:
                self._live(line, guests, memory)
                compactions.compact_if_due()  # as the housekeeping does
                self.settle(lambda: not compactions.compacting, 900.0)
            self.mind.read_edits()
            self.mira.attributes.remove("paused")
            made = memory.memory.tiers.compactions
            shown = 0
            leaked = 0
            self.time.time = BEGAN + timedelta(days=_ASKED_AFTER, hours=18, minutes=30)
            for fact in told["facts"]:
                prompt = self._prompt(guests[fact["who"]], fact["question"])
                there = fact["answer"].casefold() in prompt.casefold()
                shown += there
                if not there:
                    print(f"missing: {fact}", file=sys.stderr)
                if fact.get("whispered"):
                    others = (guest for name, guest in guests.items() if name != fact["who"])
                    answers = [self._prompt(each, fact["question"]) for each in others]
                    leaked += sum(fact["answer"] in each for each in answers)
            asked = len(told["facts"])
            for what, n, value in (
                ("compactions of a life of so many lines", 309, made),
                ("facts in the prompt of their question", asked, shown),
                ("whispers in the prompt of another's question", asked, leaked),
            ):
                figures.append(Figure(what, n, value, ""))

        def _live(self, line: dict[str, Any], guests: dict[str, Any], memory: Any) -> None:
            hours, minutes = map(int, str(line["time"]).split(":"))
            when = BEGAN + timedelta(days=line["day"] - 1, hours=hours, minutes=minutes)
            self.time.time = max(when, self.time.time)
            who = line["who"]
            if who == "Mira":
                last = next((each for each in reversed(self.spoke) if each), "")
                words = _own(line, last)
                memory.remember(did(words, last), place="The Kettle")
                return
            guest = guests[who]
            facts = {"source": who, "source_id": identity_of(guests[who])}
            if "say" in line:
                text = f'{who} says to you, "{line["say"]}"'
                event = "talk"
            elif "whisper" in line:
                text = f'{who} whispers to you, "{line["whisper"]}"'
                event = "whisper"
            else:
                text = str(line.get("event") or f"{who} {line['emote']}")
                event = "pose"
                event = event if "emote" in line else ""
            self.spoke.append(guest.key)
            what = seen(text, **facts, event=event)
            memory.remember(what, place="The Kettle", event=event)

        def _prompt(self, guest: Any, words: str) -> str:
            shown: list[str] = []
            everybody = [each for each in self.room1.contents if each.has_account]
            for other in everybody:
                other.location = None
            guest.location = self.room1
            found = self.mind.thinker.preview(self.mira, guest, words)
            found.addCallback(lambda prompt: shown.append(prompt[0].text))
            self.settle(lambda: bool(shown))
            guest.location = None
            return shown[0]

        spoke: list[str] = []  # noqa: RUF012 - one world per process

    live(Guests("measure"))
    return figures


def _own(line: dict[str, Any], to: str) -> str:
    if "whisper" in line:
        return f"whisper {to} = {line['whisper']}"
    return f"say {line['say']}" if "say" in line else f"emote {line['emote']}"


if __name__ == "__main__":
    print_figures(_figures)
