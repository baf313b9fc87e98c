"""What a player sets for themselves: away, brief, a prompt, words of their own."""

from __future__ import annotations

from evennia.commands.default.general import CmdNick
from evennia.contrib.game_systems.gendersub.gendersub import SetGender

from commands.base import PlayerCommand
from commands.wording import spoken


class CmdAway(PlayerCommand):
    """Say that you are not at your keyboard; again, that you are back.

    Usage:
      afk
      afk <why>

    Whoever looks at |wwho|n or speaks to you is told.
    """

    key = "afk"
    aliases = ("away",)
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Go away, or come back."""
        if self.caller.db.away and not self.args:
            self.caller.db.away = ""
            self.msg("You are back.")
            return
        self.caller.db.away = spoken(self.args) or "not at the keyboard"
        self.msg(f"You are away: {self.caller.db.away}")


class CmdBrief(PlayerCommand):
    """See only exits, people and things of a place you walk into; again, all of it.

    Usage:
      brief

    |wlook|n always shows all.
    """

    key = "brief"
    aliases = ("verbose",)
    arg_regex = r"$"

    def act(self) -> None:
        """Turn it on or off."""
        self.caller.db.brief = self.cmdstring == "brief" and not self.caller.db.brief
        how = "without" if self.caller.db.brief else "with"
        self.msg(f"You see places that you walk into {how} their description.")


class CmdPrompt(PlayerCommand):
    """Have a line before what you type.

    Usage:
      prompt            on or off
      prompt <text>     %p is the place, %n your name, %h part of the day

    Example:
      prompt %p, %h>
    """

    key = "prompt"
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Keep it; it is shown after every command."""
        text = spoken(self.args)
        self.caller.db.prompt = text or ("" if self.caller.db.prompt else "%p>")
        self.msg(f"Your prompt: {self.caller.db.prompt}" if self.caller.db.prompt else "No prompt.")


class CmdAlias(CmdNick):
    """Make a word of your own for a command; nobody else has it.

    Usage:
      alias                       your words
      alias <word> = <command>    |w$1|n, |w$2|n … are what you type after it
      alias/delete <word>

    Example:
      alias gk = go kettle
      alias hi $1 = talk $1 Good evening.
    """

    key = "alias"
    aliases = ("nick", "nicks", "nickname", "unalias")
    locks = "cmd:all()"
    help_category = "General"

    def parse(self) -> None:
        """Take ``alias gk go kettle`` and ``unalias gk`` as well."""
        if self.cmdstring == "unalias":
            self.args = f"/delete {self.args.strip()}"
        elif "=" not in self.args and not self.args.startswith("/"):
            self.args = " = ".join(self.args.split(maxsplit=1))
            self.args = f" {self.args}" if self.args else "/list"
        super().parse()


class CmdGender(PlayerCommand):
    """Say how others speak of you: he, she, it or they.

    Usage:
      gender male
      gender female
      gender neutral
      gender ambiguous     they, as at first
    """

    key = "gender"
    aliases = ("pronouns",)
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Keep it, by Evennia's own command."""
        SetGender.func(self)
