"""What an agent can do: a player's acts in the world, and nothing else."""

from __future__ import annotations

from evennia import CmdSet

from commands.playing.moving import CmdGo
from commands.playing.speech import CmdEmote, CmdSay, CmdTalk, CmdWhisper
from commands.playing.things import (
    CmdDrop,
    CmdExamine,
    CmdGet,
    CmdGive,
    CmdInventory,
    CmdLook,
)

AGENT_COMMANDS = (
    CmdLook,
    CmdSay,
    CmdTalk,
    CmdWhisper,
    CmdEmote,
    CmdGo,
    CmdGet,
    CmdDrop,
    CmdGive,
    CmdExamine,
    CmdInventory,
)


class AgentCmdSet(CmdSet):
    """The agents' own set: no admin, account or channel command can ever be reached."""

    key = "AgentCmdSet"
    priority = 0

    def at_cmdset_creation(self) -> None:
        """Only what a verb in :data:`game.mind.prompt.verbs.STANDARD_VERBS` may lead to."""
        for command in AGENT_COMMANDS:
            self.add(command())
