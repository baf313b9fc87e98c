"""Which commands there are, and for whom.

Evennia's builders' and admins' commands are kept. What players do not need, or
what would tell them what is not theirs to know, is taken out or replaced.
"""

from __future__ import annotations

from evennia import default_cmds
from evennia.commands.default import account, comms, general, system

from commands import builders, manners, moving, people, speech, things, unloggedin
from commands.agent_cmdset import AGENT_COMMANDS
from keepsake.contrib.evennia.cmdset import CmdSetAgents

PLAYER_COMMANDS = (
    *AGENT_COMMANDS,
    *(manners.CmdForgetMe, manners.CmdIgnore, manners.CmdReport),
    *(moving.CmdMap, moving.CmdWake),
    *(people.CmdDeeds, people.CmdTime, people.CmdWho),
    *(speech.CmdShout, things.CmdDescribe, things.CmdEat),
)
"""What people do in the world: what agents can do, and what only makes sense at a keyboard."""

BUILDER_COMMANDS = (*(builders.CmdDeed, builders.CmdMute, builders.CmdReports, builders.CmdAudit),)
"""What builders tend the village with; those for agents are a set of their own."""

_NOT_HERE = (
    general.CmdPose,  # CmdEmote
    general.CmdAccess,  # shows permission levels that mean nothing to a player
    system.CmdTime,  # the server's clock
    system.CmdAbout,  # of Evennia and the machine
    general.CmdNick,  # clients have their own
    account.CmdCharCreate,  # one character an account, made with it and named as it
    account.CmdCharDelete,
    account.CmdStyle,
    comms.CmdChannel,  # players talk in the world, and by page
    comms.CmdIRCStatus,
)


class CharacterCmdSet(default_cmds.CharacterCmdSet):
    """What a character can do, while somebody plays it."""

    key = "DefaultCharacter"

    def at_cmdset_creation(self) -> None:
        """Evennia's set, with the players' commands in place of its own."""
        super().at_cmdset_creation()
        for command in _NOT_HERE:
            self.remove(command())
        for command in (*PLAYER_COMMANDS, *BUILDER_COMMANDS, moving.CmdNoMatch):
            self.add(command())
        self.add(CmdSetAgents)
        for each in speech.social_commands():
            self.add(each)


class AccountCmdSet(default_cmds.AccountCmdSet):
    """What an account can do, in the world or out of it."""

    key = "DefaultAccount"

    def at_cmdset_creation(self) -> None:
        """Evennia's set, without what does not belong here."""
        super().at_cmdset_creation()
        for command in _NOT_HERE:
            self.remove(command())
        for command in (account.CmdIC, account.CmdOOC, account.CmdSessions):
            self.add(command(locks="cmd:perm(Builder)"))
        for command in (people.CmdWho, manners.CmdPage):
            self.add(command())


class UnloggedinCmdSet(default_cmds.UnloggedinCmdSet):
    """What can be done on the login screen."""

    def at_cmdset_creation(self) -> None:
        """Evennia's set, with an account made by one line."""
        super().at_cmdset_creation()
        self.add(unloggedin.CmdUnconnectedCreate)
