"""The base class and shared functions of the commands of players and agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evennia.objects.models import ObjectDB

from keepsake.agent.surroundings.people import people_near
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.creation import find_agents
from keepsake.contrib.evennia.hearing import happens
from keepsake.contrib.evennia.wording import CannotDo, listed, quoted, sought
from keepsake.happening import What
from keepsake.language.perception import one_line
from typeclasses.characters import Character
from typeclasses.rooms import where

EVERYTHING = frozenset({"all", "everything"})


class PlayerCommand(AuditedCommand):
    """A command without ``/switches``. Its arguments are put on one line.

    Subclasses do their work in :meth:`act`. A refusal is shown only to the caller.

    ``self.args`` holds the arguments. ``self.lhs`` and ``self.rhs`` are their parts before and
    after the first separator of ``rhs_split`` that occurs in them. Without one, ``self.rhs`` is
    None.
    """

    help_category = "General"
    locks = "cmd:all()"
    arg_regex: str | None = r"\s|$"
    rhs_split: tuple[str, ...] = ("=",)

    def parse(self) -> None:
        """Put the arguments on one line and split them once."""
        self.args = one_line(self.args)
        self.lhs = self.args
        self.rhs = None
        for mark in self.rhs_split:
            if mark in self.args:
                left, right = self.args.split(mark, 1)
                self.lhs = left.strip()
                self.rhs = right.strip()
                break

    def func(self) -> None:
        """Run the command, or show why it was refused."""
        try:
            self.act()
        except CannotDo as refusal:
            self.caller.msg((str(refusal), {"type": MessageType.FAILURE}))

    def act(self) -> None:
        """Do the work of the command; raise CannotDo to refuse."""
        raise NotImplementedError

    def find(self, words: str, among: Iterable[ObjectDB], missing: str) -> ObjectDB:
        """Return the one object of ``among`` that ``words`` name, with or without an article.

        Raises:
            CannotDo: No object matches (``missing`` is the message), or several do.
        """
        matches = self.matches(words, among)
        if not matches:
            raise CannotDo(missing)
        if len({match.key for match in matches}) > 1:
            names = [match.get_display_name(self.caller) for match in matches]
            raise CannotDo(f"Which one do you mean: {listed(names, 'or')}?")
        return matches[0]

    def find_all(self, words: str, among: Iterable[ObjectDB], missing: str) -> list[ObjectDB]:
        """Return a list of the one named object; for ``all`` and ``everything`` all of ``among``.

        Raises:
            CannotDo: No object matches (``missing`` is the message), or several do.
        """
        if sought(words).casefold() not in EVERYTHING:
            return [self.find(words, among, missing)]
        if not (found := list(among)):
            raise CannotDo(missing)
        return found

    def find_person(self, words: str) -> ObjectDB:
        """Return the other character in the room with that name; raise CannotDo if none has it."""
        return self.find(words, people_near(self.caller), not_here_message(words, self.caller))

    def matches(self, words: str, among: Iterable[ObjectDB]) -> list[ObjectDB]:
        """Return the objects of ``among`` that match ``words``; only exact names, if any."""
        candidates = list(among)
        name = sought(words).replace("’", "'")  # as a phone types O'Hara
        if not name or not candidates:
            return []
        found = self.caller.search(name, candidates=candidates, quiet=True) or []
        found = [obj for obj in found if obj in candidates]
        # Evennia compares letters as they are stored, and an accent can be stored apart (NFD).
        found = found or [obj for obj in candidates if one_line(obj.key).lower() == name.lower()]
        whole = [obj for obj in found if one_line(obj.key).lower() == name.lower()]
        return whole or found

    def show(
        self,
        kind: str,
        text: str,
        what: What,
        *,
        target: ObjectDB | None = None,
        to_target: str = "",
        **words: Any,
    ) -> None:
        """Show an act to everybody in the room, in the second or third person as fits the reader.

        Evennia calls ``msg`` of each character in the room. An agent's ``msg`` takes from ``what``
        what it remembers, and decides whether that needs an answer.

        The texts are Evennia templates such as ``$You() $conj(shake) $you(target).``; ``{actor}``
        is the caller's name. A player's own words must be passed in ``words``, never in a template.

        Args:
            kind: ``say``, ``talk``, ``pose``, ``get``, ``drop``, ``give``.
            text: The template for all readers.
            what: What happens, for agents. Its actor is the caller.
            target: The character that the act is directed at.
            to_target: Another template for the target; empty for the same one.
            **words: Other values of the templates.
        """
        caller = self.caller
        with happens(what):
            if target is not None and to_target:
                message = to_target.format(actor=caller.get_display_name(target), **words)
                target.msg((message, {"type": kind}), from_obj=caller)
            caller.location.msg_contents(
                (text, {"type": kind}),
                exclude=target if to_target else None,
                from_obj=caller,
                mapping={"actor": caller, "target": target, **words},
            )


def find_character(name: str) -> ObjectDB | None:
    """Return the player or agent with that name, wherever they are; None if there is none."""
    return (
        Character.objects.all_family().filter(db_key__iexact=sought(name).replace("’", "'")).first()
    )


def with_article(obj: ObjectDB, reader: ObjectDB) -> str:
    """Return the name with its article: ``a blue cup``."""
    return str(obj.get_numbered_name(1, reader, return_string=True))


def not_here_message(words: str, caller: ObjectDB) -> str:
    """Return the message that nobody of that name is here. It lists who is."""
    who = quoted(sought(words))
    names = [person.get_display_name(caller) for person in people_near(caller)]
    be = "is" if len(names) == 1 else "are"
    here = f"Here {be} {listed(names)}." if names else "You are alone."
    return f"Nobody called {who} is here. {here} {whereabouts(words)}".rstrip()


def whereabouts(words: str) -> str:
    """Return where an agent is: ``Nell is on the Gorse Path.``; empty if no agent has the name."""
    found = find_agents(sought(words))
    is_known = len(found) == 1 and found[0].location is not None
    return f"{found[0].key} is {where(found[0].location)}." if is_known else ""
