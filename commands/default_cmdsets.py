"""The command sets of characters, accounts and the login screen.

Evennia's commands for builders and admins are kept. Commands that players do not need,
or that show more than players should know, are removed or replaced.
"""

from __future__ import annotations

from evennia import default_cmds
from evennia.commands.default import account, comms, general, system

from commands import builders, manners, moving, people, speech, things, unloggedin
from commands.agent_cmdset import AGENT_COMMANDS
from keepsake.contrib.evennia.cmdset import CmdSetAgents

PLAYER_COMMANDS = (
    *AGENT_COMMANDS,
    manners.CmdIgnore,
    manners.CmdReport,
    moving.CmdMap,
    moving.CmdWake,
    people.CmdDeeds,
    people.CmdTime,
    people.CmdWho,
    speech.CmdShout,
    things.CmdDescribe,
    things.CmdEat,
)
"""The commands of players: those of agents, and those that make sense only at a keyboard."""

BUILDER_COMMANDS = (
    builders.CmdDeed,
    builders.CmdMute,
    builders.CmdReports,
    builders.CmdAudit,
)
"""The builders' commands for the village. Those for agents are in a separate set."""

_REMOVED = (
    general.CmdPose,  # replaced by CmdEmote
    general.CmdAccess,  # shows permission levels that mean nothing to a player
    system.CmdTime,  # the server's clock
    system.CmdAbout,  # of Evennia and the machine
    general.CmdNick,  # game clients have their own
    account.CmdCharCreate,  # each account has one character, with its name
    account.CmdCharDelete,
    account.CmdStyle,
    comms.CmdChannel,  # players talk in the world, or by page
    comms.CmdIRCStatus,
)


class CharacterCmdSet(default_cmds.CharacterCmdSet):
    """The commands of a character while somebody plays it."""

    key = "DefaultCharacter"

    def at_cmdset_creation(self) -> None:
        """Replace commands of Evennia's set by the players' commands."""
        super().at_cmdset_creation()
        for command in _REMOVED:
            self.remove(command())
        self.add(CmdSetAgents)
        for command in (*PLAYER_COMMANDS, *BUILDER_COMMANDS, moving.CmdNoMatch):
            self.add(command())
        for each in speech.social_commands():
            self.add(each)


class AccountCmdSet(default_cmds.AccountCmdSet):
    """The commands of an account, in the world or out of it."""

    key = "DefaultAccount"

    def at_cmdset_creation(self) -> None:
        """Remove commands from Evennia's set, and reserve others for builders."""
        super().at_cmdset_creation()
        for command in _REMOVED:
            self.remove(command())
        for command in (account.CmdIC, account.CmdOOC, account.CmdSessions):
            self.add(command(locks="cmd:perm(Builder)"))
        for command in (people.CmdWho, manners.CmdPage):
            self.add(command())


class UnloggedinCmdSet(default_cmds.UnloggedinCmdSet):
    """The commands of the login screen."""

    def at_cmdset_creation(self) -> None:
        """Add the command that makes an account in one line."""
        super().at_cmdset_creation()
        self.add(unloggedin.CmdUnconnectedCreate)
