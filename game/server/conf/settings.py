"""Evennia's settings for this copy of Keepsake.

Every path and port comes from :mod:`keepsake.paths`, so nothing that is written at run
time lands in the checkout's own folders. The module works under both names:
``game.server.conf.settings`` and, for Evennia's own commands in ``game/``,
``server.conf.settings``.
"""

# ruff: noqa: F403 - Evennia's settings are extended the way its manual says.

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

_GAME = Path(__file__).resolve().parents[2]
if str(_GAME.parent) not in sys.path:  # Evennia puts only the game directory there
    sys.path.insert(0, str(_GAME.parent))

gc.set_threshold(50_000)  # a start makes much and throws little of it away
with suppress(ImportError):  # inflect comes two seconds sooner without typeguard's checks
    import typeguard

    _checked, typeguard.typechecked = typeguard.typechecked, lambda target: target
    import inflect  # noqa: F401 - Evennia's, for plurals

    typeguard.typechecked = _checked

# Evennia looks for its game directory upwards from the current one, and leaves the
# process there, or in "/" when it finds none.
_started_in = Path.cwd()
os.chdir(_GAME)
from evennia.settings_default import *  # noqa: E402

os.chdir(_started_in)

from keepsake.database import database_settings  # noqa: E402
from keepsake.paths import places, read_or_create  # noqa: E402

_HERE = places()
_LOOPBACK = "127.0.0.1"
_PUBLIC = _HERE.listen != _LOOPBACK


# The machine's own time zone, such as Europe/Berlin: agents live by the clock on the wall, and
# Django puts the whole process into the zone of its settings.
_zone = (os.environ.get("TZ") or os.path.realpath("/etc/localtime")).rpartition("zoneinfo/")[2]
_zone = _zone.removeprefix(":")
# --- the game ---------------------------------------------------------------------
SERVERNAME = "Keepsake"
GAME_SLOGAN = "A text world whose inhabitants remember"
GAME_DIR = str(_GAME)
SECRET_KEY = read_or_create(_HERE.secret_key, nbytes=48)
IN_GAME_ERRORS = False
BASE_GUEST_TYPECLASS = "evennia.accounts.accounts.DefaultGuest"
TIME_FACTOR = 1.0
# Megabytes. With Evennia's 400, a world of some 1,300 agents (23,000 objects and attributes) would
# throw away what it has read of its database every five minutes, for memory that others hold.
IDMAPPER_CACHE_MAXSIZE = 2000
TIME_ZONE = _zone if _zone and Path(f"/usr/share/zoneinfo/{_zone}").is_file() else "UTC"
SERVER_SESSION_CLASS = "game.server.telnet_session.WrappingSession"
# One character an account, shared by all its connections: whoever reconnects while the
# old line still hangs is the same person in the same place.
MULTISESSION_MODE = 1

# --- network ------------------------------------------------------------------------
TELNET_PORTS = [_HERE.ports.telnet]
TELNET_INTERFACES = [_HERE.listen]
WEBSERVER_PORTS = [(_HERE.ports.web, _HERE.ports.web_internal)]
WEBSERVER_INTERFACES = [_HERE.listen]
WEBSOCKET_CLIENT_PORT = _HERE.ports.websocket
WEBSOCKET_CLIENT_INTERFACE = _HERE.listen
AMP_PORT = _HERE.ports.amp
AMP_HOST = _LOOPBACK
AMP_INTERFACE = _LOOPBACK
ALLOWED_HOSTS = ["*"] if _PUBLIC else ["localhost", _LOOPBACK]
ALLOWED_HOSTS += os.environ.get("KEEPSAKE_HOSTNAME", "").split()  # what a proxy in front is called
# The Portal says by which way a request came, and takes away what a browser says about it.
UPSTREAM_IPS = [_LOOPBACK]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
TELNET_PROTOCOL_CLASS = "game.server.portal_lines.PromptTelnet"
WEBSOCKET_PROTOCOL_CLASS = "game.server.portal_lines.BoundedSocket"
# Evennia's go by characters, tell of every line, and hold for telnet: ours are in limits.py.
MAX_COMMAND_RATE, MAX_CHAR_LIMIT = 1_000_000, 0
AMP_SERVER_PROTOCOL_CLASS = "game.server.portal_lines.PromptPortalEnd"
MAX_CONNECTION_RATE = 100  # a second; Evennia's 2 makes the third newcomer wait
# Ours, in typeclasses/throttle.py, counts for all ways in; Evennia's for the game's own alone, and
# by address alone, so that one player's typing errors lock a whole school out.
LOGIN_THROTTLE_LIMIT = CREATION_THROTTLE_LIMIT = None
LOGIN_THROTTLE_TIMEOUT = CREATION_THROTTLE_TIMEOUT = 1  # it goes on noting times for so long
AUTHENTICATION_BACKENDS = ["game.web.middleware.ThrottledBackend"]
CACHES["throttle"] = {  # noqa: F405 - Evennia's
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    # Without a place of its own it is that of the default cache, and cut down to its 300 entries.
    "LOCATION": "throttle",
    "OPTIONS": {"MAX_ENTRIES": 100_000},
}

# --- files --------------------------------------------------------------------------
LOG_DIR = str(_HERE.logs)
SERVER_LOG_FILE = str(_HERE.logs / "server.log")
PORTAL_LOG_FILE = str(_HERE.logs / "portal.log")
HTTP_LOG_FILE = str(_HERE.logs / "http_requests.log")
LOCKWARNING_LOG_FILE = str(_HERE.logs / "lockwarnings.log")
CACHE_DIR = str(_HERE.home / "cache")
STATIC_ROOT = str(_HERE.home / "static")
MEDIA_ROOT = str(_HERE.home / "media")

DATABASES = {"default": database_settings(_HERE)}
SQLITE3_PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL")

# --- code ---------------------------------------------------------------------------
# By Evennia's defaults: typeclasses/, commands/default_cmdsets.py, world/help_entries.py,
# game/web/static, and prefixes of commands that may be left out.
COMMAND_DEFAULT_CLASS = "keepsake.contrib.evennia.audit.AuditedCommand"
KEEPSAKE = {
    "vault": str(_HERE.vault),
    "home": str(_HERE.home),
    "agent_typeclass": "typeclasses.agents.Agent",
}
CMDSET_SESSION = "evennia.commands.default.cmdset_session.SessionCmdSet"
AUTH_USERNAME_VALIDATORS = [{"NAME": "commands.unloggedin.PlayerNameValidator"}]
CONNECTION_SCREEN_MODULE = "world.help_entries"
AT_INITIAL_SETUP_HOOK_MODULE = "world.build"
PROTOTYPE_MODULES: list[str] = []
AT_SERVER_STARTSTOP_MODULE = "game.server.conf.at_server_startstop"
# Evennia's template names modules of one's own here; Keepsake has none.
LOCK_FUNC_MODULES = ("evennia.locks.lockfuncs",)
INPUT_FUNC_MODULES = ["evennia.server.inputfuncs", "evennia.server.is_typing"]
SERVER_SERVICES_PLUGIN_MODULES: list[str] = []
PORTAL_SERVICES_PLUGIN_MODULES: list[str] = []
FUNCPARSER_OUTGOING_MESSAGES_MODULES = ["evennia.utils.funcparser"]
FUNCPARSER_PROTOTYPE_PARSING_MODULES = ["evennia.prototypes.protfuncs"]
MSSP_META_MODULE = ""
TELNET_OOB_ENABLED = True  # tells crawlers of GMCP
WEB_PLUGINS_MODULE = "game.server.conf.web_plugins"

INSTALLED_APPS += ["ninja", "keepsake.contrib.evennia"]  # noqa: F405 - Evennia's

# --- web ----------------------------------------------------------------------------
ROOT_URLCONF = "game.web.urls"
_OURS = {
    # Answers all that staff ask for by HEAD with an empty page that names the view.
    "django.contrib.admindocs.middleware.XViewMiddleware": None,
    # Keeps a session of every stranger.
    "evennia.web.utils.middleware.SharedLoginMiddleware": "game.web.middleware.SharedLogin",
}
MIDDLEWARE = [
    "game.web.middleware.site_headers",
    *filter(None, (_OURS.get(each, each) for each in MIDDLEWARE)),  # noqa: F405 - Evennia's
]
