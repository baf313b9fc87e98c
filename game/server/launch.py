"""Runs one operation of Evennia's launcher for one copy of Keepsake.

``python -m game.server.launch start|check``, as a child process: the launcher works from the
current directory, keeps module-level state and ends with its process. It prints what it does, one
``step: …`` line each, for the command line to show.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, STDOUT, Popen
from types import ModuleType
from typing import Any

from keepsake import vault_lock
from keepsake.cli.world import ADMIN, CHECKED, NEW_VAULT, REFUSED, STEP
from keepsake.errors import KeepsakeError
from keepsake.paths import PRIVATE_UMASK, REPOSITORY, Places, places, read_or_create

SETTINGS = "game.server.conf.settings"
_GAME = REPOSITORY / "game"
_BUILT = "done"
_CHECK_SECONDS = 0.2
_PORTAL_CHECKS = 600


def main() -> None:
    """Run the operation that the command line names."""
    os.umask(PRIVATE_UMASK)  # Portal and Server inherit it
    gc.disable()  # the process keeps everything that it loads, and is short
    here = places()
    # The folder of twistd.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    os.chdir(_GAME)
    _say("Loading Evennia")
    search_path = list(sys.path)
    from evennia.server import evennia_launcher as launcher  # noqa: PLC0415 - after chdir

    sys.path[:] = search_path  # the launcher overwrites the second entry
    launcher.SETTINGS_DOTPATH = SETTINGS
    launcher.init_game_directory(str(_GAME), check_db=False)
    # Evennia's own pid files are in the game directory, which all copies of a checkout share.
    launcher.PORTAL_PIDFILE = str(here.portal_pid)
    launcher.SERVER_PIDFILE = str(here.server_pid)
    if sys.argv[1] == "check":
        _check(launcher)
        return
    _say("Preparing the database")
    with vault_lock.take(here):  # or two simultaneous first starts would build it twice
        from django.core.management import call_command  # noqa: PLC0415 - needs the settings

        # Evennia collects garbage once for each of its apps. Without the freeze each collection
        # would search everything that is loaded, which takes seconds.
        gc.freeze()
        call_command("migrate", interactive=False, verbosity=0)
        _check(launcher)
        _create_admin(here)
        _build_world()
        _check_memories(here, new_vault=NEW_VAULT in sys.argv)
    _say("Starting Evennia")
    _launch(launcher, here)


def _check(launcher: ModuleType) -> None:
    """Load what a Server will load, so that errors appear before a Server is started."""
    import evennia  # noqa: PLC0415 - needs the settings
    from django.conf import settings  # noqa: PLC0415 - needs the settings
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings

    _say("Checking the code")
    evennia._init()  # contribs use parts of Evennia that exist only after this
    launcher.error_check_python_modules()
    for name in (  # modules that Evennia silently ignores if they cannot be imported
        settings.AT_INITIAL_SETUP_HOOK_MODULE,
        settings.AT_SERVER_STARTSTOP_MODULE,
        *settings.FILE_HELP_ENTRY_MODULES,
        *settings.PROTOTYPE_MODULES,
    ):
        import_module(name)
    # The scripts of the pages may have changed too. Those of another version may have a later date,
    # for example in a home that was restored, and would stay: so all are copied anew.
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    print(CHECKED, flush=True)


def _create_admin(here: Places) -> None:
    """Make account 1 with a generated password, or set a new one if the password file is gone."""
    from evennia.accounts.models import AccountDB  # noqa: PLC0415 - needs the settings

    forgotten = not here.admin_password.exists()
    password = read_or_create(here.admin_password, nbytes=12)
    admin = AccountDB.objects.filter(id=1).first()
    if admin is None:
        AccountDB.objects.create_superuser(ADMIN, "", password)
    elif forgotten and not admin.check_password(password):
        _say("Giving the admin a new password")
        admin.set_password(password)
        admin.save()


def _check_memories(here: Places, *, new_vault: bool) -> None:
    """Refuse a vault that has no memory of any agent that the world knows.

    If only some are missing, the world starts, and those agents are not opened.

    ``new_vault``: Whether to give agents whose memories are missing new ones instead.
    """
    from keepsake.contrib.evennia import creation  # noqa: PLC0415 - needs the settings

    known = [agent for agent in creation.all_agents() if agent.attributes.get(creation.MEMORY_ID)]
    missing = [agent for agent in known if creation.memory_is_missing(agent, here.agents)]
    if new_vault:
        for agent in missing:
            _say(f"Giving {agent.key} a new memory")
            creation.begin_anew(agent, here.agents)
    elif missing and len(missing) == len(known):
        names = ", ".join(agent.key for agent in missing)
        raise KeepsakeError(
            f"The vault {here.vault} has no memory of {names}, whom the world knows",
            "Put the vault back (is its disk mounted?), set KEEPSAKE_VAULT to its folder, or start "
            "with new memories: `keepsake start --new-vault`",
        )


def _build_world() -> None:
    """Build the world in this process, which has already loaded Evennia."""
    from django.db import transaction  # noqa: PLC0415 - needs the settings
    from evennia.server import initial_setup  # noqa: PLC0415 - needs the settings
    from evennia.server.models import ServerConfig  # noqa: PLC0415 - needs the settings

    done = ServerConfig.objects.conf("last_initial_setup_step")
    if done in (_BUILT, -1):
        return
    _say("Building the world")
    initial_setup.collectstatic = lambda: None  # _check did it
    initial_setup.reset_server = lambda: ServerConfig.objects.conf("server_epoch", time.time())
    with transaction.atomic():  # after an interruption the next start begins again
        initial_setup.handle_setup(done)


def _launch(launcher: ModuleType, here: Places) -> None:
    """Start a Portal and ask it for a Server, as `evennia start` does, but wait up to 120 s."""
    from twisted.internet import reactor as twisted_reactor  # noqa: PLC0415 - after the settings

    reactor: Any = twisted_reactor
    from game.server import private_line  # noqa: PLC0415 - imports the reactor

    portal, server = launcher._get_twistd_cmdline(False, False)
    with (here.logs / "portal.log").open("ab") as log:
        Popen(portal, env=launcher.getenv(), stdin=DEVNULL, stdout=log, stderr=STDOUT)

    def connect(tries: int) -> None:
        line = private_line.connect_launcher(launcher.AMPLauncherProtocol())
        line.addCallbacks(ask, lambda failure: again(failure, tries))

    def again(failure: Any, tries: int) -> None:
        if tries:
            reactor.callLater(_CHECK_SECONDS, connect, tries - 1)
        else:
            print(f"The Portal does not listen: {failure.getErrorMessage()}", flush=True)
            end()

    def ask(line: Any) -> None:
        launcher.AMP_CONNECTION = line
        launcher.send_instruction(launcher.SSTART, server, end, end)

    def end(*_: object) -> None:
        reactor.stop()

    reactor.callWhenRunning(connect, _PORTAL_CHECKS)
    reactor.run()


def _say(step: str) -> None:
    print(f"{STEP}{step}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeepsakeError as error:
        print(f"{REFUSED}{json.dumps([error.what, error.cure])}", flush=True)
        sys.exit(1)
