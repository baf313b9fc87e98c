"""Runs one operation of Evennia's launcher for one copy of Keepsake.

``python -m game.cli.world.evennia_entry start|stop|check``, as a child process: the
launcher works from the current directory, keeps module-level state and ends with its
process. Evennia would write its pid files into the game directory, which all copies of
one checkout share; here they go to this copy's home.

What it does is told on standard output, one ``step: …`` line each, for the command line
to show.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from game.paths import REPOSITORY, Places, places
from game.server.private_files import read_or_create

STEP = "step: "
PASSWORD_CHANGED = "The admin's password was changed in the game"
"""Printed on a line of its own; the generated one cannot log in any more."""
CHECKED = "The code can be loaded"
"""Evennia's launcher gives up with an exit code of success, so that says nothing."""
PORTAL_STARTED = "Portal started"
"""Evennia's own words; from then on a Server is being started."""
ADMIN = "admin"
SETTINGS = "game.server.conf.settings"
PASSWORD_BYTES = 12
_GAME = REPOSITORY / "game"
_STATUS_RETRIES = 600  # two a second
_WAIT_ARGUMENTS = 6


def main() -> None:
    """Run the operation that the command line names."""
    operation = {"start": _start, "stop": _stop, "check": _check}[sys.argv[1]]
    here = places()
    launcher = _launcher(here)
    operation(launcher, here)
    if operation is _check:
        print(CHECKED, flush=True)
        return
    from twisted.internet import reactor  # noqa: PLC0415 - installed by the launcher

    running: Any = reactor  # Twisted types it as the bare interface module
    running.run()


def _launcher(here: Places) -> ModuleType:
    """Evennia's launcher, pointed at this copy."""
    os.environ["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    )  # where twistd is
    os.chdir(_GAME)
    _say("Loading Evennia")
    search_path = list(sys.path)
    from evennia.server import evennia_launcher as launcher  # noqa: PLC0415 - after chdir

    sys.path[:] = search_path  # it overwrites the second entry, whatever that is
    launcher.SETTINGS_DOTPATH = SETTINGS
    launcher.wait_for_status = _patient(launcher.wait_for_status)
    launcher.init_game_directory(str(_GAME), check_db=False)
    launcher.PORTAL_PIDFILE = str(here.portal_pid)
    launcher.SERVER_PIDFILE = str(here.server_pid)
    launcher.PPROFILER_LOGFILE = str(here.logs / "portal.prof")
    launcher.SPROFILER_LOGFILE = str(here.logs / "server.prof")
    return launcher


def _patient(wait_for_status: Callable[..., object]) -> Callable[..., object]:
    """The launcher's wait for the Portal, which would give up after ten seconds.

    That is too little on a busy machine, and giving up looks like success. Whoever
    started this process watches the Portal, and decides when it has been too long.
    """

    def wait(*arguments: object, **options: object) -> object:
        if len(arguments) < _WAIT_ARGUMENTS:  # it calls itself with all of them
            options.setdefault("retries", _STATUS_RETRIES)
        return wait_for_status(*arguments, **options)

    return wait


def _start(launcher: ModuleType, here: Places) -> None:
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings

    _say("Preparing the database")
    # Evennia has all garbage collected once for each of its apps, which takes seconds as long
    # as what it has loaded is looked through each time.
    gc.freeze()
    call_command("migrate", interactive=False, verbosity=0)
    _check(launcher, here)
    _create_admin(launcher, here)
    _say("Starting Evennia")
    launcher.start_evennia()


def _stop(launcher: ModuleType, here: Places) -> None:
    _say("Stopping Evennia")
    launcher.stop_evennia()


def _check(launcher: ModuleType, here: Places) -> None:
    """Load what a Server will load, so that one that could not start is never waited for."""
    import evennia  # noqa: PLC0415 - needs the settings

    _say("Checking the code")
    evennia._init()  # its contribs are made of what Evennia itself is not until then
    launcher.error_check_python_modules()
    _check_world_modules()
    launcher.collectstatic()  # the files of the web client may have changed too


def _check_world_modules() -> None:
    """Import what Evennia would silently do without when it does not import."""
    from importlib import import_module  # noqa: PLC0415 - beside its one use

    from django.conf import settings  # noqa: PLC0415 - needs the settings

    for name in (
        settings.AT_INITIAL_SETUP_HOOK_MODULE,
        settings.AT_SERVER_STARTSTOP_MODULE,
        *settings.FILE_HELP_ENTRY_MODULES,
        *settings.PROTOTYPE_MODULES,
    ):
        import_module(name)


def _create_admin(launcher: ModuleType, here: Places) -> None:
    """Make account 1 with the generated password, or give it one when its file is gone."""
    forgotten = not here.admin_password.exists()
    password = read_or_create(here.admin_password, nbytes=PASSWORD_BYTES)
    created = {
        "EVENNIA_SUPERUSER_USERNAME": ADMIN,
        "EVENNIA_SUPERUSER_EMAIL": "",
        "EVENNIA_SUPERUSER_PASSWORD": password,
    }
    os.environ.update(created)
    try:
        launcher.check_database()
    finally:  # the Portal and the Server inherit this environment
        for name in created:
            del os.environ[name]
    _compare_password(password, replace=forgotten)


def _compare_password(password: str, *, replace: bool) -> None:
    """Tell when the file's password is not the admin's, or make it so."""
    from evennia.accounts.models import AccountDB  # noqa: PLC0415 - needs the settings

    admin = AccountDB.objects.get(id=1)
    if admin.check_password(password):
        return
    if replace:
        _say("Giving the admin a new password")
        admin.set_password(password)
        admin.save()
    else:
        print(PASSWORD_CHANGED, flush=True)


def _say(step: str) -> None:
    print(f"{STEP}{step}", flush=True)


if __name__ == "__main__":
    main()
