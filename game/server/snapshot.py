"""One moment of the running world, for a backup.

On the reactor thread nothing else happens: in one turn of it the database is given a reader, who
goes on seeing it as it is now, and the length of each archive is noted. What is copied afterwards,
up to those lengths, is the world of that turn.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from twisted.internet.threads import deferToThread

from game.server import database_copy
from keepsake.agent.runtime import running, runtime
from keepsake.archive.log import segment_sizes
from keepsake.errors import refusing
from keepsake.paths import places


def snapshot(request: dict[str, Any]) -> Any:
    """Answer the control operation ``snapshot``: ``{"folder": where its files are to go}``.

    The database is copied into that folder, and so is what waits for archives.

    Returns:
        A Deferred of ``{"archives": {agent: {segment: bytes}}}``.

    Raises:
        KeepsakeError: The database cannot be read.
    """
    here, folder = places(), Path(str(request["folder"]))
    reader = database_copy.reader(here)
    with refusing("The world could not be read"):
        if running() and runtime().spill.waiting():
            shutil.copyfile(here.spill, folder / here.spill.name)
        archives = {each.parent.name: segment_sizes(each) for each in here.agents.glob("*/archive")}
    copied = deferToThread(reader.copy_into, folder)
    copied.addCallback(lambda _: {"archives": archives})
    return copied
