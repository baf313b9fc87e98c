"""What a player sets for themselves: away, gender, words of their own."""

from __future__ import annotations

import re

from evennia.contrib.game_systems.gendersub.gendersub import SetGender
from evennia.utils.utils import make_iter

from commands.base import PlayerCommand
from keepsake.contrib.evennia.wording import CannotDo, quoted, spoken

_MARK = re.compile(r"\$\d+")
_TYPED = "inputline"


class CmdAway(PlayerCommand):
    """Let others know that you are not at your keyboard.

    Usage:
      afk            you are away; typed again, you are back
      afk <why>      the same, with a reason

    Whoever speaks to you, pages you or types |wwho|n is told so. You also come
    back by logging in again.

    Example:
      afk the soup boils over
    """

    key = "afk"
    aliases = ("away",)

    def act(self) -> None:
        """Go away, or come back."""
        if self.caller.db.away and not self.args:
            self.caller.db.away = ""
            self.msg("You are back.")
            return
        self.caller.db.away = spoken(self.args) or "not at the keyboard"
        self.msg(f"You are away: {self.caller.db.away}")


class CmdAlias(PlayerCommand):
    """Make a short word of your own for something long to type; nobody else has it.

    Usage:
      alias                       your words
      alias <word> = <command>    from then on the word does that
      unalias <word>              no longer

    Example:
      alias gk = go kettle
      alias hi $1 = talk $1 Good evening.

    With the second, |whi mira|n says good evening to Mira: |w$1|n is what you type
    after the word, |w$2|n what comes then.
    """

    key = "alias"
    aliases = ("nick", "nicks", "nickname", "unalias")

    def act(self) -> None:
        """List them, make one, or drop one."""
        nicks, word, command = self.caller.nicks, self.lhs, self.rhs
        if self.cmdstring == "unalias":
            if not word or not nicks.has(word, category=_TYPED):
                raise CannotDo(f"{quoted(word)} is no word of yours.")
            nicks.remove(word, category=_TYPED)
            self.msg(f"{quoted(word)} is no word of yours any more.")
            return
        if not word:
            kept = make_iter(nicks.get(category=_TYPED, return_obj=True) or ())
            lines = sorted(f"  |c{each.value[2]}|n does: {each.value[3]}" for each in kept)
            self.msg("\n".join(lines) or "You have no words of your own. See: help alias")
            return
        if command is None:  # `alias gk go kettle`
            word, _, command = word.partition(" ")
        # Evennia's template breaks on braces; a word without letters could not be dropped again.
        if not command or not _MARK.sub("", word).strip("*? \t") or {*"{}"} & {*command}:
            raise CannotDo("Which word, for what? For instance: alias gk = go kettle.")
        marks = _MARK.findall(word)
        if {*marks} != {*_MARK.findall(command)} or len({*marks}) < len(marks):
            raise CannotDo("The same $1, $2 … must stand on both sides, each once in your word.")
        nicks.add(word, command, category=_TYPED)
        self.msg(f"From now on {quoted(word)} does: {command}")


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

    def act(self) -> None:
        """Keep it, by Evennia's own command."""
        if not self.args:
            now = self.caller.db.gender or "ambiguous"
            raise CannotDo(f"You are {now}. For instance: gender female.")
        SetGender.func(self)
