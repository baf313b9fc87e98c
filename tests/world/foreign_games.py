"""Parts of games that know nothing of Keepsake: own verbs, RPSystem, rooms with code."""

from __future__ import annotations

from typing import Any

from evennia import CmdSet, Command, default_cmds
from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter, ContribRPRoom
from evennia.objects.objects import DefaultCharacter, DefaultObject, DefaultRoom

from keepsake.agent.surroundings.identity import is_agent
from keepsake.contrib.evennia import AgentMixin, CharacterMixin


class CmdSagen(Command):
    """A German `say` that tells nobody who speaks."""

    key = "sagen"

    def func(self) -> None:
        """Show it to the room."""
        line = f"{self.caller.key} sagt: »{self.args.strip()}«"
        self.caller.location.msg_contents(line, from_obj=self.caller)


class CmdMurmur(Command):
    """Words for one person alone, by a plain ``msg``."""

    key = "murmur"

    def func(self) -> None:
        """Show it to the person."""
        name, _, words = self.args.strip().partition(" ")
        target = self.caller.search(name)
        target.msg(f'{self.caller.key} murmurs, "{words}"', from_obj=self.caller)


class CmdSpeak(Command):
    """A say that tells each listener alone, without a sender, in the speaker's tongue."""

    key = "speak"

    def func(self) -> None:
        """Show it to each listener."""
        speaker = self.caller
        for each in speaker.location.contents_get(content_type="character", exclude=speaker):
            name = speaker.get_display_name(each)
            each.msg(f'{name} says, in common,\n  "{self.args.strip()}"')


class ForeignCmdSet(default_cmds.CharacterCmdSet):
    """Evennia's own commands, and those of a game with its own verbs."""

    key = "ForeignCmdSet"

    def at_cmdset_creation(self) -> None:
        """Add them."""
        super().at_cmdset_creation()
        self.add(CmdSagen())
        self.add(CmdMurmur())


class Played(DefaultObject):
    """Somebody whom a player controls, without a session."""

    has_account = True


class Visitor(Played, DefaultCharacter):
    """A player's character."""


class ForeignNPC(AgentMixin, DefaultCharacter):
    """A ready-made agent, as a game gets it that has Evennia's own characters."""


class MuteCmdSet(CmdSet):
    """Commands of an agent without any command to speak."""

    key = "MuteCmdSet"


class MuteAgent(AgentMixin, DefaultCharacter):
    """An agent whose command set has no commands to speak."""

    agent_cmdset = MuteCmdSet


class LostAgent(MuteAgent):
    """An agent whose words reach nobody."""

    def at_say(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Say it to nobody."""


class CmdSayToAgents(Command):
    """A say that only agents are shown, as a game has it whose players read in another way."""

    key = "say"

    def func(self) -> None:
        """Show it to the agents in the room."""
        speaker = self.caller
        for each in speaker.location.contents_get(content_type="character", exclude=speaker):
            if is_agent(each):
                each.msg((f'{speaker.key} says, "{self.args.strip()}"', {}), from_obj=speaker)


class HalfHeardCmdSet(CmdSet):
    """Commands of an agent whose say does not reach players."""

    key = "HalfHeardCmdSet"

    def at_cmdset_creation(self) -> None:
        """Add it."""
        self.add(CmdSayToAgents())


class HalfHeardAgent(AgentMixin, DefaultCharacter):
    """An agent whose say reaches other agents, but no player."""

    agent_cmdset = HalfHeardCmdSet


class SaidCharacter(CharacterMixin, Visitor):
    """A character with its own wording of speech, below the mixin."""

    def at_say(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Speak in German."""
        kwargs["msg_location"] = "{object} sagt: »{speech}«"
        super().at_say(message, *args, **kwargs)


class RPVisitor(Played, ContribRPCharacter):
    """A player's character in a game with short descriptions."""


class RPAgent(AgentMixin, ContribRPCharacter):
    """An agent in a game with short descriptions."""


class RPRoom(ContribRPRoom, DefaultRoom):
    """A room in such a game."""


class DescribedRoom(DefaultRoom):
    """A room whose description is code."""

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """Return the description."""
        return "Moss grows on |gevery|n stone."
