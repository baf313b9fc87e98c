"""The commands that an agent can use: a player's acts in the world, and nothing else."""

from __future__ import annotations

from evennia import CmdSet

from commands import moving, speech, things

AGENT_COMMANDS = (
    things.CmdLook,
    speech.CmdSay,
    speech.CmdTalk,
    speech.CmdWhisper,
    speech.CmdEmote,
    moving.CmdGo,
    things.CmdGet,
    things.CmdDrop,
    things.CmdGive,
    things.CmdInventory,
)


class AgentCmdSet(CmdSet):
    """The command set of agents. No admin, account or channel command is in it."""

    key = "AgentCmdSet"
    priority = 0

    def at_cmdset_creation(self) -> None:
        """Add the commands that the verbs in :data:`keepsake.prompt.verbs.VERBS` run."""
        for command in AGENT_COMMANDS:
            self.add(command())
