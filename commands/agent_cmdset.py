"""What an agent can do: a player's acts in the world, and nothing else."""

from __future__ import annotations

from evennia import CmdSet

from commands import moving, speech, things

AGENT_COMMANDS = (
    *(things.CmdLook, speech.CmdSay, speech.CmdTalk, speech.CmdWhisper, speech.CmdEmote),
    *(moving.CmdGo, things.CmdGet, things.CmdDrop, things.CmdGive, things.CmdInventory),
)


class AgentCmdSet(CmdSet):
    """The agents' own set: no admin, account or channel command can ever be reached."""

    key = "AgentCmdSet"
    priority = 0

    def at_cmdset_creation(self) -> None:
        """Only what a verb in :data:`keepsake.prompt.verbs.VERBS` may lead to."""
        for command in AGENT_COMMANDS:
            self.add(command())
