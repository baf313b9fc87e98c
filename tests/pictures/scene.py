"""The scene of the pictures: Anneke tells of her sister, the news travels, Mira remembers.

A scripted model answers, so that the pictures are the same each time. The world, its memory and its
pages are real.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.model_server import FakeModelServer
from tests.pictures import chatter
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player, compactions
from tests.slow.e2e.running import WITH_RULES, running

SISTER = "I had a sister, Liesbet. She drowned three winters ago, and I still set out two cups."
ANSWERS = (
    (
        "what did I tell you about my sister",
        " say That she was Liesbet, that the water had her three winters ago, and that you still"
        " set out two cups. | she asks what I remember",
    ),
    ("key to her house", " whisper Anneke = It stays between us. | she trusts me"),
    ("sold her boat", " whisper Anneke = Then I tell it to no one. | she trusts me"),
    (
        SISTER,
        " say Then Liesbet has a cup here too, while you're under my roof, and nobody will clear"
        " it away. | she should not grieve alone",
    ),
    (
        "Will you meet me",
        " agree Anneke | I like her company",
    ),
    (
        "who is the new guest",
        " say Anneke. She had a sister, Liesbet, who drowned three winters ago. | I heard it at"
        " the inn",
    ),
)
"""A part of what was said last, and the answer."""
DULL = tuple(f" say {words} | small talk" for words in chatter.ANSWERS)
_SAID = re.compile(r'^\w+ (?:says|whispers)(?: to you)?, "(.*)"', re.MULTILINE)
"""A line of the prompt's window; recalled ones look different."""
_NEWS = re.compile(r"drowned\s+three\s+winters\s+ago")
"""What Joss passes on, as a terminal shows it."""
TRIES = 5
"""How often Joss is asked for it."""
_CHANGES = (
    ("memory_compaction.md", "window**: 64", "window**: 8"),
    ("memory_compaction.md", "**count_from**: 0.60", "**count_from**: 0"),
    ("thinking.md", "**gather**: 0.6", "**gather**: 0.1"),
    ("thinking.md", "**cooldown**: 4", "**cooldown**: 0.3"),
)


def speaks(prompt: str) -> str:
    """Return the answer to the newest line that was said; small talk for an unknown one."""
    said = _SAID.findall(prompt)
    newest = said[-1] if said else ""
    known = (answer for words, answer in ANSWERS if words in newest)
    return next(known, DULL[len(said) % len(DULL)])


@dataclass
class Scene:
    """The world after the scene.

    Attributes:
        transcript: What Anneke typed, each with what she then read.
    """

    copy: Copy
    anneke: Player
    transcript: list[tuple[str, str]] = field(default_factory=list)

    def types(self, line: str, *wanted: str) -> None:
        """Let Anneke type a line, and note what she reads."""
        self.transcript.append((line, self.anneke.type(line, *wanted)))


@contextmanager
def played(folder: Path, tables: Path) -> Iterator[Scene]:
    """Start a world, play the scene, and end the world afterwards."""
    with (
        FakeModelServer(models=["stand-in"], script=speaks) as fake,
        running(
            folder,
            tables,
            llm=WITH_RULES.replace("comma", "stand-in"),
            changes=_CHANGES,
            OLLAMA_HOST=fake.address,
        ) as copy,
    ):
        scene = Scene(copy, Player.new(copy, "Anneke"))
        scene.anneke.see("The Kettle")
        _gather(copy)
        scene.anneke.see("admin has left the game")
        _play(scene)
        yield scene
        scene.anneke.line.close()


def _gather(copy: Copy) -> None:
    """Bring Joss to the inn, where he overhears; let nobody leave by habit."""
    admin = Player.admin(copy)
    admin.see("The Kettle")
    admin.type(
        "py from keepsake.contrib.evennia.creation import all_agents; "
        "[(a.attributes.remove('day'), a.mind.walker.stop()) for a in all_agents()]; "
        "self.msg('no days left')",
        "no days left",
    )
    admin.type("@tel Mira = #2", "Mira is already at The Kettle|Teleported")
    admin.type("@tel Joss = #2", "Joss is already at The Kettle|Teleported")
    admin.leave()


def _play(scene: Scene) -> None:
    scene.types("look", "The Kettle")
    scene.types(f"talk mira {SISTER}", r"nobody\s+will\s+clear")
    scene.types("whisper Mira = The key to her house hangs under my coat.", "between us")
    _chat(scene)
    scene.anneke.type("whisper Mira = I have sold her boat, and told nobody.", "to no one")
    _pass_on(scene.copy)
    scene.anneke.type("meet mira at the quay tomorrow 12:00", "agrees to meet you")
    scene.types("talk mira what did I tell you about my sister?", r"still\s+set\s+out\s+two\s+cups")


def _chat(scene: Scene) -> None:
    """Let Anneke talk until Mira has made two compactions; slowly enough for the input limit."""
    for line in chatter.lines():
        if compactions(scene.copy) > 1:
            return
        scene.anneke.type(f"say {line}", "You say")
        time.sleep(0.3)
    raise AssertionError("all was said before two compactions were made")


def _pass_on(copy: Copy) -> None:
    """Let Joss tell a stranger at the ferry of it, where Wren overhears."""
    admin = Player.admin(copy)
    admin.see("The Kettle")
    for name in ("Joss", "Wren"):
        admin.type(f"@tel {name} = The Ferry Stage", "Teleported|already at")
    admin.type("@tel me = The Ferry Stage", "The Ferry Stage")
    # On a busy machine Joss may first answer something that Wren has said.
    for _ in range(TRIES):
        if _NEWS.search(admin.type("talk joss who is the new guest?", "Joss says to you")):
            break
    admin.leave()
