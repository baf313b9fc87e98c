"""Evennia's settings for this copy of Keepsake.

Every path and port comes from :mod:`keepsake.paths`, so nothing is written into the checkout's
own folders at run time. The module can be imported under two names:
``game.server.conf.settings``, and ``server.conf.settings`` for Evennia's own commands in
``game/``.
"""

# ruff: noqa: F403 - Evennia's manual says to extend its settings so.

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

_GAME = Path(__file__).resolve().parents[2]
if str(_GAME.parent) not in sys.path:  # Evennia puts only the game directory there
    sys.path.insert(0, str(_GAME.parent))

gc.set_threshold(50_000)  # a start makes many objects and frees few
with suppress(ImportError):  # without typeguard's checks inflect loads two seconds faster
    import typeguard

    _checked = typeguard.typechecked
    typeguard.typechecked = lambda target: target
    import inflect  # noqa: F401 - Evennia's, for plurals

    typeguard.typechecked = _checked

# Evennia searches for its game directory from the current directory upwards. It leaves the
# process in it, or in "/" if it finds none.
_started_in = Path.cwd()
os.chdir(_GAME)
from evennia.settings_default import *  # noqa: E402 - from its directory, see above

os.chdir(_started_in)

from keepsake.database import database_settings  # noqa: E402 - after the path is set
from keepsake.paths import places, read_or_create, world_zone  # noqa: E402 - as above

_HERE = places()
_LOOPBACK = "127.0.0.1"
_PUBLIC = _HERE.listen != _LOOPBACK


# Such as Europe/Berlin: agents live by local time, and Django sets the zone of its settings for the
# whole process.
TIME_ZONE = world_zone(_HERE.agents)
# --- the game ---------------------------------------------------------------------
SERVERNAME = "Keepsake"
GAME_SLOGAN = "A text world whose inhabitants remember"
GAME_DIR = str(_GAME)
SECRET_KEY = read_or_create(_HERE.secret_key, nbytes=48)
IN_GAME_ERRORS = False
BASE_GUEST_TYPECLASS = "evennia.accounts.accounts.DefaultGuest"
TIME_FACTOR = 1.0
# Megabytes. The limit counts the memory of the whole process: with Evennia's 400, a world of some
# 1,300 agents (23,000 objects and attributes) would empty this cache every five minutes.
IDMAPPER_CACHE_MAXSIZE = 2000
SERVER_SESSION_CLASS = "game.server.telnet_session.WrappingSession"
# One character per account, shared by all its connections: a player who reconnects while the
# old connection is still open is the same character in the same place.
MULTISESSION_MODE = 1

# --- network ------------------------------------------------------------------------
TELNET_PORTS = [_HERE.ports.telnet]
TELNET_INTERFACES = [_HERE.listen]
WEBSERVER_PORTS = [(_HERE.ports.web, _HERE.ports.web_internal)]
WEBSERVER_INTERFACES = [_HERE.listen]
WEBSOCKET_CLIENT_PORT = _HERE.ports.websocket
WEBSOCKET_CLIENT_INTERFACE = _HERE.listen
# No port: Portal and Server talk over a Unix socket; see private_line.py.
AMP_PORT = 0
AMP_HOST = _LOOPBACK
AMP_INTERFACE = _LOOPBACK
ALLOWED_HOSTS = ["*"] if _PUBLIC else ["localhost", _LOOPBACK]
ALLOWED_HOSTS += os.environ.get("KEEPSAKE_HOSTNAME", "").split()  # the name of a proxy in front
# The Portal sets these headers, and removes those that a browser sends.
UPSTREAM_IPS = _HERE.proxies
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
TELNET_PROTOCOL_CLASS = "game.server.portal_lines.LimitedTelnet"
WEBSOCKET_PROTOCOL_CLASS = "game.server.portal_lines.LimitedWebSocket"
# Evennia's limits count characters, warn at every line, and work only for telnet; see limits.py.
MAX_COMMAND_RATE = 1_000_000
MAX_CHAR_LIMIT = 0
AMP_SERVER_PROTOCOL_CLASS = "game.server.portal_lines.PortalAmpServer"
MAX_CONNECTION_RATE = 100  # per second; with Evennia's 2 the third connection would wait
# typeclasses/throttle.py counts for telnet and web together. Evennia's throttle counts only
# logins of the game, and only by address, so one player's typing errors lock out a whole school.
LOGIN_THROTTLE_LIMIT = None
CREATION_THROTTLE_LIMIT = None
LOGIN_THROTTLE_TIMEOUT = 1  # seconds that it still stores times
CREATION_THROTTLE_TIMEOUT = 1
AUTHENTICATION_BACKENDS = ["game.web.middleware.ThrottledBackend"]
CACHES["throttle"] = {  # noqa: F405 - Evennia's
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    # Without its own location it would share the default cache, with 300 entries at most.
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
# Set by Evennia's defaults: typeclasses/, commands/default_cmdsets.py, world/help_entries.py,
# game/web/static, and the command prefixes that may be omitted.
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
# Evennia's template lists the game's own modules here. Keepsake has none.
LOCK_FUNC_MODULES = ("evennia.locks.lockfuncs",)
INPUT_FUNC_MODULES = ["evennia.server.inputfuncs", "evennia.server.is_typing"]
SERVER_SERVICES_PLUGIN_MODULES = ["game.server.private_line"]
PORTAL_SERVICES_PLUGIN_MODULES = ["game.server.private_line"]
FUNCPARSER_OUTGOING_MESSAGES_MODULES = ["evennia.utils.funcparser"]
FUNCPARSER_PROTOTYPE_PARSING_MODULES = ["evennia.prototypes.protfuncs"]
MSSP_META_MODULE = ""
TELNET_OOB_ENABLED = True  # tells crawlers that the game has GMCP
WEB_PLUGINS_MODULE = "game.server.conf.web_plugins"

INSTALLED_APPS += ["ninja", "keepsake.contrib.evennia", "keepsake.web"]  # noqa: F405 - Evennia's

# --- web ----------------------------------------------------------------------------
ROOT_URLCONF = "game.web.urls"
_REPLACED = {
    # It answers HEAD requests of staff with an empty page that names the view.
    "django.contrib.admindocs.middleware.XViewMiddleware": None,
    # It stores a session for every visitor.
    "evennia.web.utils.middleware.SharedLoginMiddleware": "game.web.middleware.SharedLogin",
}
MIDDLEWARE = [
    "game.web.middleware.site_headers",
    *filter(None, (_REPLACED.get(each, each) for each in MIDDLEWARE)),  # noqa: F405 - Evennia's
]
