"""A world to look at: agents who speak and forget, people who type, and a scripted model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.model_server import FakeModelServer
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player, chat_until, compactions, keep_at_home
from tests.slow.e2e.running import WITH_RULES, running

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
"""What a player says who would like to run a program in the browsers of the staff."""
FACT = "My brother Edwin mends nets in Ostrey, beside the salt house."
_CHANGES = (
    ("memory_compaction.md", "window**: 64", "window**: 5"),
    ("memory_compaction.md", "**count_from**: 0.60", "**count_from**: 0"),
    ("recall.md", "**patience**: 0.5", "**patience**: 30"),
    ("thinking.md", "**gather**: 0.6", "**gather**: 0.1"),
    ("thinking.md", "**cooldown**: 4", "**cooldown**: 0.3"),
)
_times = itertools.count(1)
_lines = itertools.count(100)


def speaks(_prompt: str) -> str:
    """Something new each time: an agent that repeats itself is asked again."""
    return f" say The ferry leaves at {next(_times)} sharp. | somebody asked\n~Mira> go north"


@dataclass
class WatchedWorld:
    """A copy of the game beside a scripted model, where the player Tamsin stands before Mira."""

    copy: Copy
    tamsin: Player

    @property
    def address(self) -> str:
        """Where its web server answers."""
        return f"http://127.0.0.1:{self.copy.here.ports.web}"

    def say(self, words: str) -> str:
        """Tamsin says something that nobody has said before; returns the line."""
        line = f"{words} ({next(_lines)})"
        self.tamsin.type(f"say {line}", "You say")
        return line


@contextmanager
def watched(folder: Path, tables: Path) -> Iterator[WatchedWorld]:
    """Start one, and let Mira live through enough for two compactions; ended afterwards."""
    with (
        FakeModelServer(models=["comma"], script=speaks) as fake,
        running(folder, tables, llm=WITH_RULES, changes=_CHANGES, OLLAMA_HOST=fake.address) as copy,
    ):
        made = WatchedWorld(copy, Player.new(copy, "Tamsin"))
        made.tamsin.see("The Kettle")
        # What agents do by rule, at their hours, would come between the acts that are looked for.
        keep_at_home(copy)
        made.tamsin.type(f"say {FACT}", "You say")
        made.tamsin.type(f"say {HOSTILE}", "You say")
        chat_until(lambda: compactions(copy) > 2, made.tamsin)
        yield made
        made.tamsin.line.close()
