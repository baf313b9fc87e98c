"""A world to look at: agents who speak and forget, people who type, and a scripted model."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

from game.paths import REPOSITORY
from tests.cli.conftest import Copy, end, make_copy
from tests.e2e.players import Player, chat_until
from tests.fakes.model_server import FakeModelServer

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
"""What a player says who would like to run a program in the browsers of the staff."""
FACT = "My brother Edwin mends nets in Ostrey, beside the salt house."
_LLM = """\
## agent
**provider**: ollama
**model**: comma
**format**: script
**stop**: ["\\n"]
**time_limit**: 120

## summarizer
**provider**: extractive
"""
_CHANGES = {
    "memory_compaction.md": [("window**: 64", "window**: 5")],
    "recall.md": [("**patience**: 0.5", "**patience**: 30")],
    "thinking.md": [
        ("**insist**: yes", "**insist**: no"),
        ("**gather**: 0.6", "**gather**: 0.1"),
        ("**cooldown**: 4", "**cooldown**: 0.3"),
    ],
}


_times, _lines = itertools.count(1), itertools.count(100)


def _speaks(_prompt: str) -> str:
    """Something new each time: an agent that repeats itself is asked again."""
    return f" say The ferry leaves at {next(_times)} sharp. | somebody asked\n~Mira> go north"


class WatchedWorld:
    """A copy of the game beside a scripted model; :meth:`start` it, then look.

    Attributes:
        copy: The copy.
        fake: The model; what its ``script`` says, the agents do.
    """

    def __init__(self, folder: Path) -> None:
        self.fake = FakeModelServer(models=["comma"], script=_speaks)
        self.tamsin: Player | None = None
        self.copy: Copy = make_copy(folder, OLLAMA_HOST=self.fake.address)
        shutil.copytree(REPOSITORY / "vault" / "config", self.copy.here.config)
        (self.copy.here.config / "llm.md").write_text(_LLM)
        for name, changes in _CHANGES.items():
            path = self.copy.here.config / name
            text = path.read_text()
            for old, new in changes:
                assert old in text, (name, old)
                text = text.replace(old, new)
            path.write_text(text)

    @property
    def address(self) -> str:
        """Where its web server answers."""
        return f"http://127.0.0.1:{self.copy.here.ports.web}"

    @property
    def password(self) -> str:
        """The admin's."""
        return self.copy.here.admin_password.read_text().strip()

    def start(self) -> None:
        """Start it, and let Mira live through enough for two compactions."""
        started = self.copy.keepsake("start")
        assert started.returncode == 0, started.stderr
        self.tamsin = tamsin = Player.new(self.copy, "Tamsin")
        tamsin.see("The Kettle")
        tamsin.type(f"say {FACT}", "You say")
        tamsin.type(f"say {HOSTILE}", "You say")
        chat_until(lambda: self.compactions() > 2, tamsin)

    def close(self) -> None:
        """End all that runs for it."""
        if self.tamsin is not None:
            self.tamsin.line.close()
        end(self.copy)
        self.fake.close()

    def say(self, words: str) -> str:
        """Tamsin says something that nobody has said before; returns the line."""
        assert self.tamsin is not None, "start it first"
        line = f"{words} ({next(_lines)})"
        self.tamsin.type(f"say {line}", "You say")
        return line

    def compactions(self) -> int:
        """How many Mira has made."""
        return self.copy.here.agents_log.read_text().count("[Memory] Mira: Compaction complete")

    def agents(self) -> dict[str, dict]:
        """All agents by name, as the command line lists them."""
        listed = json.loads(self.copy.keepsake("agents", "--json").stdout)
        return {each["name"]: each for each in listed}
