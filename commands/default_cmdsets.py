"""Which commands there are, and for whom.

Evennia's builders' and admins' commands are kept. What players do not need, or
what would tell them what is not theirs to know, is taken out or replaced.
"""

from __future__ import annotations

from evennia import CmdSet, default_cmds
from evennia.commands.default import account, admin, comms, general, system, unloggedin

from commands.agent_cmdset import AGENT_COMMANDS
from commands.building.agents import CmdAgent
from commands.building.compaction import CmdCompaction
from commands.building.copying import CmdCopy
from commands.building.deeds import CmdDeed, CmdWorld
from commands.building.history import CmdHistory
from commands.building.journal import CmdJournal
from commands.building.memory import CmdCompactMemories, CmdMemoryStatus
from commands.building.models import CmdLlmStatus
from commands.building.moderation import CmdAudit, CmdBanFor, CmdMute, CmdReports
from commands.building.notes import CmdNote, CmdNotes, CmdPin
from commands.building.profiles import CmdPeople
from commands.building.recall import CmdAwayNews, CmdMemories, CmdRecall
from commands.building.rules import CmdRules
from commands.building.why import CmdWhy
from commands.playing.deeds import CmdAbout, CmdDeeds
from commands.playing.guessing import CmdNoMatch, CmdSeveral
from commands.playing.letters import CmdMail
from commands.playing.manners import (
    AccountSpeech,
    CmdForgetMe,
    CmdIgnore,
    CmdPage,
    CmdReport,
)
from commands.playing.moving import (
    CmdExits,
    CmdFollow,
    CmdGroup,
    CmdSit,
    direction_commands,
)
from commands.playing.people import CmdMap, CmdScore, CmdTime, CmdWhere, CmdWho
from commands.playing.preferences import CmdAlias, CmdAway, CmdBrief, CmdGender, CmdPrompt
from commands.playing.socials import social_commands
from commands.playing.speech import CmdTell
from commands.playing.things import CmdDescribe
from commands.playing.using import CmdEat, CmdPut, CmdRead, CmdRemove, CmdTrade, CmdWear
from commands.sleep import CmdShout, CmdSleep, CmdWake, CmdWakeAgent
from commands.unloggedin import CmdUnconnectedCreate, CmdUnconnectedHelp, CmdUnconnectedWho

PLAYER_COMMANDS = (
    *AGENT_COMMANDS,
    CmdAbout,
    CmdDeeds,
    CmdAway,
    CmdBrief,
    CmdDescribe,
    CmdEat,
    CmdExits,
    CmdFollow,
    CmdForgetMe,
    CmdGender,
    CmdGroup,
    CmdIgnore,
    CmdMap,
    CmdPrompt,
    CmdPut,
    CmdRead,
    CmdRemove,
    CmdReport,
    CmdScore,
    CmdShout,
    CmdSit,
    CmdTell,
    CmdTime,
    CmdTrade,
    CmdWake,
    CmdWear,
    CmdWhere,
    CmdWho,
)
"""What people do in the world: what agents can do, and what only makes sense at a keyboard."""

BUILDER_COMMANDS = (
    CmdAgent,
    CmdAwayNews,
    CmdCompactMemories,
    CmdCompaction,
    CmdDeed,
    CmdMemoryStatus,
    CmdMemories,
    CmdRecall,
    CmdWhy,
    CmdWorld,
    CmdJournal,
    CmdPeople,
    CmdHistory,
    CmdNotes,
    CmdNote,
    CmdPin,
    CmdRules,
    CmdSleep,
    CmdWakeAgent,
    CmdLlmStatus,
    CmdMute,
    CmdReports,
    CmdAudit,
)
"""What builders tend agents with."""

_NOT_IN_THE_WORLD = (
    general.CmdPose,  # CmdEmote
    general.CmdSetDesc,  # CmdDescribe
    general.CmdAccess,  # shows permission levels that mean nothing to a player
    system.CmdTime,  # the server's clock
    system.CmdAbout,  # of Evennia and the machine: CmdAbout
)

_NOT_FOR_ACCOUNTS = (
    account.CmdCharCreate,  # one character an account, made with it and named as it
    account.CmdCharDelete,
    account.CmdStyle,
    comms.CmdIRC2Chan,
    comms.CmdIRCStatus,
    comms.CmdRSS2Chan,
    comms.CmdGrapevine2Chan,
    comms.CmdDiscord2Chan,
)


class CmdChannel(AccountSpeech, comms.CmdChannel):
    """Evennia's channels; players talk on them, making and managing them is for builders."""

    locks = (
        "cmd: not pperm(channel_banned); admin: perm(Builder);"
        " manage: perm(Builder); changelocks: perm(Admin)"
    )


CmdChannel.__doc__ = comms.CmdChannel.__doc__  # the docstring is the help in the game


class CharacterCmdSet(default_cmds.CharacterCmdSet):
    """What a character can do, while somebody plays it."""

    key = "DefaultCharacter"

    def at_cmdset_creation(self) -> None:
        """Evennia's set, with the players' commands in place of its own."""
        super().at_cmdset_creation()
        for command in _NOT_IN_THE_WORLD:
            self.remove(command())
        for command in (*PLAYER_COMMANDS, *BUILDER_COMMANDS):
            self.add(command())
        for command in (CmdCopy(), CmdAlias(), CmdNoMatch(), CmdSeveral()):
            self.add(command)
        for command in (*direction_commands(), *social_commands()):
            self.add(command)


class AccountCmdSet(default_cmds.AccountCmdSet):
    """What an account can do, in the world or out of it."""

    key = "DefaultAccount"

    def at_cmdset_creation(self) -> None:
        """Evennia's set, without what does not belong here."""
        super().at_cmdset_creation()
        for command in _NOT_FOR_ACCOUNTS:
            self.remove(command())
        self.add(CmdWho())
        self.add(CmdChannel())
        self.add(CmdPage())
        self.add(CmdMail())
        self.add(CmdAlias())
        self.remove(admin.CmdBan())
        self.add(CmdBanFor())


class SessionCmdSet(default_cmds.SessionCmdSet):
    """What a connection can do."""

    key = "DefaultSession"


class UnloggedinCmdSet(CmdSet):
    """What can be done on the login screen."""

    key = "DefaultUnloggedin"
    priority = 0

    def at_cmdset_creation(self) -> None:
        """Connect, create, and what a client may need."""
        for command in (
            unloggedin.CmdUnconnectedConnect,
            CmdUnconnectedCreate,
            unloggedin.CmdUnconnectedQuit,
            unloggedin.CmdUnconnectedLook,
            CmdUnconnectedHelp,
            CmdUnconnectedWho,
            unloggedin.CmdUnconnectedEncoding,
            unloggedin.CmdUnconnectedScreenreader,
            unloggedin.CmdUnconnectedInfo,
        ):
            self.add(command())
