"""The builders' commands, and what an agent can do in a game without a set of its own for it."""

from __future__ import annotations

from evennia import CmdSet
from evennia.commands.default import general

from keepsake.contrib.evennia.commands.agents import CmdAgent
from keepsake.contrib.evennia.commands.memory import CmdCompactMemories, CmdMemoryStatus
from keepsake.contrib.evennia.commands.models import CmdLlmStatus
from keepsake.contrib.evennia.commands.recall import CmdAwayNews

BUILDER_COMMANDS = (CmdAgent, CmdCompactMemories, CmdMemoryStatus, CmdLlmStatus, CmdAwayNews)


class CmdSetAgents(CmdSet):
    """What builders tend agents with: add it to the game's own set of characters."""

    key = "CmdSetAgents"

    def at_cmdset_creation(self) -> None:
        """All of them."""
        for command in BUILDER_COMMANDS:
            self.add(command())


class NPCCmdSet(CmdSet):
    """Evennia's own commands for what an agent does in the world, and nothing else."""

    key = "NPCCmdSet"

    def at_cmdset_creation(self) -> None:
        """Look, speak, and handle things."""
        for command in (
            *(general.CmdLook, general.CmdSay, general.CmdWhisper, general.CmdPose),
            *(general.CmdGet, general.CmdDrop, general.CmdGive, general.CmdInventory),
        ):
            self.add(command())
