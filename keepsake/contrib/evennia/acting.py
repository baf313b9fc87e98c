"""What an agent does, without merging command sets for each act of it.

Evennia looks for the command of a typed line by merging the sets of whoever types, of all that is
with them and of the room, anew each time. Here what they merge to is kept until one of them is
another: as these are asked for each time, under their locks and with their hooks, nothing has to
be told that it is out of date. All the rest is Evennia's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from evennia import CmdSet
from evennia.commands.cmdhandler import cmdhandler, get_and_merge_cmdsets
from evennia.utils.utils import variable_from_module
from twisted.internet.defer import Deferred

_parse = variable_from_module(*settings.COMMAND_PARSER.rsplit(".", 1))
_NOTHING = CmdSet()


@dataclass(frozen=True, slots=True)
class _Merged:
    """What command sets merge to."""

    parts: tuple[Any, ...]  # the sets and their lists of commands; one that changes gets another
    commands: CmdSet  # all that can be done

    def is_of(self, parts: tuple[Any, ...]) -> bool:
        """Whether they are the same, each of them, in the same order."""
        return len(parts) == len(self.parts) and all(map(_is, parts, self.parts))


def execute(somebody: Any, line: str) -> Deferred[Any]:
    """Do what a player would type; as ``execute_cmd``, and quicker.

    Whatever is not the plain case, one command that the line means, is left to Evennia.
    """
    if somebody.account is None and (found := _found(somebody, line)) is not None:
        return found
    return somebody.execute_cmd(line)


def _found(somebody: Any, line: str) -> Deferred[Any] | None:
    """The command under way; None if it is not clear which one is meant."""
    typed = somebody.nicks.nickreplace(line, categories=("inputline", "channel"))
    if typed != typed.strip() or (merged := _merged(somebody, typed)) is None:
        return None
    matches = _parse(typed, merged, somebody, session=None)
    if len(matches) != 1:
        return None
    name, arguments, command, _, _, raw_name = matches[0]
    if name + arguments != typed:  # typed in capitals, or with a mark before it
        return None
    done: Deferred[Any] = cmdhandler(
        somebody,
        arguments,
        callertype="object",
        cmdobj=command,
        cmdobj_key=name,
        cmdset=merged,
        raw_cmdname=raw_name,
    )
    return done


def _merged(somebody: Any, line: str) -> CmdSet | None:
    """What can be done where they are; None if that is not known at once."""
    try:
        parts = tuple(_parts(somebody))
    except Exception:  # a hook of a builder's making; Evennia meets it too, and tells of it
        return None
    kept = somebody.ndb.merged_commands
    if kept is None or not kept.is_of(parts):
        came: list[CmdSet] = []
        merging = get_and_merge_cmdsets(somebody, [somebody], "object", line)
        merging.addCallbacks(came.append, lambda _: None)
        if not came or came[0] is None:
            return None
        # Merging calls the hooks, and an exit then makes its set: what it was made of is known now.
        kept = somebody.ndb.merged_commands = _Merged(tuple(_parts(somebody)), came[0])
    return kept.commands


def _parts(somebody: Any) -> Iterator[Any]:
    """What is merged, gathered as :func:`get_and_merge_cmdsets` does it."""
    somebody.at_cmdset_get(caller=somebody, current=_NOTHING)
    current, own = somebody.get_cmdsets(caller=somebody, current=_NOTHING)
    yield current
    for each in own:
        yield from (each, each.commands)
    if current.no_objs or (place := somebody.location) is None:
        return
    for thing in (*place.contents_get(exclude=somebody), *somebody.contents_get(), place):
        if thing._is_deleted or not thing.access(somebody, "call", no_superuser_bypass=True):
            continue
        thing.at_cmdset_get(caller=somebody)
        for each in thing.cmdset.cmdset_stack:
            yield from (each, each.commands)


def _is(one: object, other: object) -> bool:
    return one is other
