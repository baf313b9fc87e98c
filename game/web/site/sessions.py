"""Sessions of browsers: none is kept of a stranger, and none for longer than it is good for.

Evennia writes one into the database for each request that comes without, so that whoever asks
over and over fills it.
"""

from __future__ import annotations

import logging
from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError, close_old_connections
from django.http import HttpRequest, HttpResponseBase
from evennia.web.utils.middleware import SharedLoginMiddleware

_CLIENT = "/webclient"
"""Its page alone needs a session before anybody has logged in: the game is told its key."""
_log = logging.getLogger("keepsake.web")


class SharedLogin(SharedLoginMiddleware):
    """Evennia's one log-in for site and web client; makes no session where none is needed."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and share the log-in where there is one."""
        # Whether somebody is logged in is read first: only then is it known whether the key that
        # the browser sent is of any session.
        anybody = SESSION_KEY in request.session or request.session.session_key is not None
        if anybody or request.path_info.startswith(_CLIENT):
            answer: HttpResponseBase = super().__call__(request)
            return answer
        answer = self.get_response(request)
        return answer


def forget_old_sessions() -> None:
    """Let go of all that have run out; reads and writes the database, in a thread."""
    try:
        import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    except DatabaseError as error:  # they lie there until the next start, which harms nobody
        _log.warning("[Warning] Old sessions could not be removed: %s", error)
    finally:
        close_old_connections()  # this thread's own, which nobody else would close
