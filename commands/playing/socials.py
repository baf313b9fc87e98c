"""Gestures by name, made of the table in ``world/socials.yaml``."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from commands.playing.speech import POSED, SpeechCommand
from keepsake.contrib.evennia.wording import CannotDo

TABLE = Path(__file__).resolve().parents[2] / "world" / "socials.yaml"


class CmdSocial(SpeechCommand):
    """Do what everybody knows without words: smile, nod, bow, wave.

    Usage:
      <gesture>
      <gesture> <name>

    Example:
      smile        bow mira        shake ada

    |whelp socials|n lists them. |wemote|n does what is not among them.
    """

    auto_help = False
    arg_regex = r"\s|$"
    alone = ""
    together = ""

    def speak(self) -> None:
        """Show it; each reads it in the person that fits."""
        words = re.sub(r"^(?:at|to|with|for|before)\s+", "", self.args)
        target = self.find_person(words) if words else None
        if not (text := self.together if target else self.alone):
            whom = " whom" if target is None else ""
            example = self.key + (" mira" if target is None else "")
            raise CannotDo(f"{self.key.capitalize()}{whom}? For instance: {example}.")
        if self.caller.gender == "neutral":  # nobody has said what they are
            text = text.replace("$pron(your)", "$pron(your,p)")
        facts = {"type": "pose"} | ({"to": target.id} if target else {})
        self.caller.location.msg_contents(
            (f"{POSED}$You() {text}", facts),
            from_obj=self.caller,
            mapping={"target": target} if target else None,
        )


def social_commands() -> list[CmdSocial]:
    """A command for each line of the table."""
    table = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return [
        CmdSocial(key=name, alone=alone, together=together)
        for name, (alone, together) in table.items()
    ]
