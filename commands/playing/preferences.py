"""What a player sets for themselves: away, brief, a prompt, words of their own."""

from __future__ import annotations

import re
from typing import Any

from evennia.contrib.game_systems.gendersub.gendersub import SetGender
from evennia.utils.utils import make_iter

from commands.base import PlayerCommand
from commands.wording import CannotDo, quoted, spoken

_MARK, _ANYTHING = re.compile(r"\$\d+"), re.compile(r"\$\d+|[*?\s]")
_TYPED = "inputline"
_WHERE = (_TYPED, "object", "account")
"""Where Evennia looks for a player's own words: in what they type, and in names that they type."""


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

    def act(self) -> None:
        """Keep it; it is shown after every command."""
        text = spoken(self.args)
        self.caller.db.prompt = text or ("" if self.caller.db.prompt else "%p>")
        self.msg(f"Your prompt: {self.caller.db.prompt}" if self.caller.db.prompt else "No prompt.")


class CmdAlias(PlayerCommand):
    """Make a short word of your own for something long to type; nobody else has it.

    Usage:
      alias                       your words
      alias <word> = <command>    from then on the word does that
      alias/delete <word>         no longer

    Example:
      alias gk = go kettle
      alias hi $1 = talk $1 Good evening.

    With the second, |whi mira|n says good evening to Mira: |w$1|n is what you type
    after the word, |w$2|n what comes then.
    """

    key = "alias"
    aliases = ("nick", "nicks", "nickname", "unalias")
    arg_regex = r"[\s/]|$"

    def act(self) -> None:
        """List them, show, make or drop one."""
        word, command = self.lhs, self.rhs
        switch = "delete" if self.cmdstring == "unalias" else ""
        if word.startswith("/"):
            switch, _, word = word[1:].partition(" ")
            if switch not in ("delete", "list"):
                raise CannotDo(f"There is no /{switch}. There are: /delete and /list.")
        if switch == "delete":
            self._drop(word.strip())
        elif not word or switch == "list":
            self._list()
        elif command is None and " " not in word:
            self.msg(self._shown(word) or f"{quoted(word)} is no word of yours.")
        else:
            if command is None:  # `alias gk go kettle`
                word, command = word.split(maxsplit=1)
            self._make(word, command)

    def _make(self, word: str, command: str) -> None:
        if not word or not command or word.casefold() == command.casefold():
            raise CannotDo("Which word, for what? For instance: alias gk = go kettle.")
        marks = _MARK.findall(word)
        if {*marks} != {*_MARK.findall(command)} or len({*marks}) < len(marks):
            how = "each once in your word, as in: alias hi $1 = talk $1 Good evening."
            raise CannotDo(f"The same $1, $2 … must stand on both sides, {how}")
        if not _ANYTHING.sub("", word):  # it could not even be dropped again
            raise CannotDo("That stands for all that you type. Give it a letter: alias hi $1 = …")
        if {*"{}"} & {*command}:  # Evennia's template of it breaks on them
            raise CannotDo("A word of yours can do nothing with { or } in it.")
        self.caller.nicks.add(word, command, category=_TYPED)
        self.msg(f"From now on {quoted(word)} does: {command}")

    def _drop(self, word: str) -> None:
        found = [each for each in _WHERE if word and self.caller.nicks.has(word, category=each)]
        if not found:
            raise CannotDo(f"{quoted(word)} is no word of yours." if word else "Which word?")
        for each in found:
            self.caller.nicks.remove(word, category=each)
        self.msg(f"{quoted(word)} is no word of yours any more.")

    def _list(self) -> None:
        lines = sorted(self._shown(each.value[2]) for each in self._all())
        none = "You have no words of your own. For instance: alias gk = go kettle."
        self.msg("\n".join(["|wYour words|n", *(f"  {each}" for each in lines)]) if lines else none)

    def _all(self) -> list[Any]:
        kept = (self.caller.nicks.get(category=each, return_obj=True) for each in _WHERE)
        return [each for found in kept for each in make_iter(found) if each]

    def _shown(self, word: str) -> str:
        does = (each.value[3] for each in self._all() if each.value[2] == word)
        return next((f"|c{word}|n does: {each}" for each in does), "")


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
