"""Command sets: the builders' commands, and the default commands of agents."""

from __future__ import annotations

from evennia import CmdSet, Command
from evennia.commands.default import general

from keepsake.agent.surroundings.people import find_person
from keepsake.contrib.evennia.commands.agents import CmdAgent
from keepsake.contrib.evennia.commands.compaction import CmdCompactMemories
from keepsake.contrib.evennia.commands.forget import CmdForgetMe
from keepsake.contrib.evennia.commands.meet import CmdMeet
from keepsake.contrib.evennia.commands.memory import CmdLlmStatus, CmdMemoryStatus
from keepsake.contrib.evennia.speaking import show_speech, words_said
from keepsake.happening import KnownVerb
from keepsake.prompt.verbs import find_exit


class CmdSetAgents(CmdSet):
    """The builders' commands for agents, and `forget me` and `meet` for players.

    Add it to the game's own character command set.
    """

    key = "CmdSetAgents"

    def at_cmdset_creation(self) -> None:
        """Add the commands."""
        for command in (
            CmdAgent,
            CmdCompactMemories,
            CmdMemoryStatus,
            CmdLlmStatus,
            CmdForgetMe,
            CmdMeet,
        ):
            self.add(command())


class CmdAnswer(Command):
    """Speak to one person aloud: ``talk <name> = <words>``."""

    key = KnownVerb.TALK
    arg_regex = r"\s"

    def func(self) -> None:
        """Say it to the target; the others in the room hear it with the target's name."""
        name, _, words = self.args.partition("=")
        agent = self.caller
        target = find_person(agent, name.strip()) or agent.search(name.strip())
        if target is None or not (said := words_said(agent, words, receivers=[target])):
            return
        show_speech(agent, target, words, said)


class CmdWhisperTo(Command):
    """Speak to one person so that nobody else hears it: ``whisper <name> = <words>``."""

    key = KnownVerb.WHISPER
    arg_regex = r"\s"

    def func(self) -> None:
        """Whisper it, by the game's ``at_say``."""
        name, _, words = self.args.partition("=")
        agent = self.caller
        target = find_person(agent, name.strip()) or agent.search(name.strip())
        if target is None:
            return
        if said := words_said(agent, words, whisper=True, receivers=[target]):
            agent.at_say(said, msg_self=True, receivers=[target], whisper=True)


class CmdGoThrough(Command):
    """Walk through an exit: ``go <exit>``."""

    key = KnownVerb.GO
    arg_regex = r"\s"

    def func(self) -> None:
        """Run the exit's name as a command: Evennia makes each exit a command."""
        exits = [each.key for each in self.caller.location.exits]
        self.execute_cmd(find_exit(self.args.strip(), exits) or self.args.strip())


class CmdLookClosely(general.CmdLook):
    """Look at something: what agents call ``examine`` is Evennia's ``look``."""

    aliases = ("l", "ls", "examine")


class NPCCmdSet(CmdSet):
    """Evennia's own commands that an agent needs, and two that Evennia lacks."""

    key = "NPCCmdSet"

    def at_cmdset_creation(self) -> None:
        """Add commands to look, speak, walk and handle things."""
        for command in (
            CmdAnswer,
            CmdGoThrough,
            CmdLookClosely,
            general.CmdSay,
            CmdWhisperTo,
            general.CmdPose,
            general.CmdGet,
            general.CmdDrop,
            general.CmdGive,
            general.CmdInventory,
        ):
            self.add(command())
