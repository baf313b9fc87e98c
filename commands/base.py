"""What the commands of players and agents have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evennia.objects.models import ObjectDB

from keepsake.agent.surroundings import people_near
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.creation import find_agents
from keepsake.contrib.evennia.wording import CannotDo, listed, quoted, sought
from keepsake.language.perception import one_line
from typeclasses.characters import Character
from typeclasses.rooms import where

EVERYTHING = frozenset({"all", "everything"})


class PlayerCommand(AuditedCommand):
    """A command without ``/switches``, whose words are folded to one line.

    Subclasses do their work in :meth:`act`; a refusal is shown only to the caller.

    ``self.args`` holds the words; ``self.lhs`` and ``self.rhs`` what is left and
    right of the first of ``rhs_split`` that occurs in them, ``self.rhs`` being None
    when there is none.
    """

    help_category = "General"
    locks = "cmd:all()"
    arg_regex: str | None = r"\s|$"
    rhs_split: tuple[str, ...] = ("=",)

    def parse(self) -> None:
        """Fold the words and split them once."""
        self.args = one_line(self.args)
        self.lhs, self.rhs = self.args, None
        for mark in self.rhs_split:
            if mark in self.args:
                left, right = self.args.split(mark, 1)
                self.lhs, self.rhs = left.strip(), right.strip()
                break

    def func(self) -> None:
        """Do it, or tell why nothing came of it."""
        try:
            self.act()
        except CannotDo as refusal:
            self.caller.msg((str(refusal), {"type": "failure"}))

    def act(self) -> None:
        """What the command does; raises CannotDo."""
        raise NotImplementedError

    def find(self, words: str, among: Iterable[ObjectDB], missing: str) -> ObjectDB:
        """The one object of ``among`` that ``words`` name, with or without an article.

        Raises:
            CannotDo: It is none of them, for which ``missing`` are the words, or may be several.
        """
        matches = self.matches(words, among)
        if not matches:
            raise CannotDo(missing)
        if len({match.key for match in matches}) > 1:
            names = [match.get_display_name(self.caller) for match in matches]
            raise CannotDo(f"Which one do you mean: {listed(names, 'or')}?")
        return matches[0]

    def find_all(self, words: str, among: Iterable[ObjectDB], missing: str) -> list[ObjectDB]:
        """What ``words`` name of ``among``: one, or all of it for ``all`` and ``everything``.

        Raises:
            CannotDo: It is nothing, for which ``missing`` are the words, or may be several.
        """
        if sought(words).casefold() not in EVERYTHING:
            return [self.find(words, among, missing)]
        if not (found := list(among)):
            raise CannotDo(missing)
        return found

    def find_person(self, words: str) -> ObjectDB:
        """Somebody else in the room; raises CannotDo if nobody is meant."""
        return self.find(words, people_near(self.caller), nobody(words, self.caller))

    def matches(self, words: str, among: Iterable[ObjectDB]) -> list[ObjectDB]:
        """All objects of ``among`` that ``words`` may name; a whole name beats its parts."""
        candidates, name = list(among), sought(words).replace("’", "'")  # as a phone types O'Hara
        if not name or not candidates:
            return []
        found = self.caller.search(name, candidates=candidates, quiet=True) or []
        found = [obj for obj in found if obj in candidates]
        whole = [obj for obj in found if obj.key.lower() == name.lower()]
        return whole or found

    def show(
        self,
        kind: str,
        text: str,
        *,
        target: ObjectDB | None = None,
        to_target: str = "",
        **words: Any,
    ) -> None:
        """Let everybody here perceive an act, each in the person that fits.

        The texts are templates of ours: ``$You() $conj(shake) $you(target).``, with ``{actor}``
        where all read the name. Every word of a player comes in through ``words``.

        Args:
            kind: ``say``, ``talk``, ``pose``, ``get``, ``drop``, ``give``.
            text: What is read.
            target: The one it concerns; its number goes along as ``to``.
            to_target: What that one reads, if it is something else.
            **words: What the templates name besides.
        """
        caller, facts = self.caller, {"type": kind} | ({"to": target.id} if target else {})
        if target is not None and to_target:
            told = to_target.format(actor=caller.get_display_name(target), **words)
            target.msg((told, dict(facts)), from_obj=caller)
        caller.location.msg_contents(
            (text, facts),
            exclude=target if to_target else None,
            from_obj=caller,
            mapping={"actor": caller, "target": target, **words},
        )


def player_named(name: str) -> ObjectDB | None:
    """Whoever bears that name, agents too, wherever they are."""
    return (
        Character.objects.all_family().filter(db_key__iexact=sought(name).replace("’", "'")).first()
    )


def with_article(obj: ObjectDB, reader: ObjectDB) -> str:
    """``a blue cup``."""
    return str(obj.get_numbered_name(1, reader, return_string=True))


def nobody(words: str, caller: ObjectDB) -> str:
    """The message that somebody is not here, and who is."""
    who = quoted(sought(words))
    names = [person.get_display_name(caller) for person in people_near(caller)]
    be = "is" if len(names) == 1 else "are"
    here = f"Here {be} {listed(names)}." if names else "You are alone."
    return f"Nobody called {who} is here. {here} {whereabouts(words)}".rstrip()


def whereabouts(words: str) -> str:
    """Where the agent of that name is: ``Nell is on the Gorse Path.``; empty if none is meant."""
    found = find_agents(sought(words))
    is_known = len(found) == 1 and found[0].location is not None
    return f"{found[0].key} is {where(found[0].location)}." if is_known else ""
