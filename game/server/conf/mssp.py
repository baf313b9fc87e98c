"""What lists of games are told (MSSP): what is so in this copy, and nothing that may not be.

Evennia adds name, players, ports and protocols. What is not said is unknown: how many rooms there
are is the builders' business, and where the machine stands its keeper's.
"""

from __future__ import annotations

import time

from keepsake.paths import places

_HERE = places()
_STARTED = int(time.time())

MSSPTable = {
    "UPTIME": str(_STARTED),  # when it started, by the protocol
    "LANGUAGE": "English",
    "CREATED": "2026",
    "GENRE": "Fantasy",
    "GAMEPLAY": ["Roleplaying", "Simulation"],
    "STATUS": "Alpha",
    "PAY TO PLAY": "0",
    "PAY FOR PERKS": "0",
    "VT100": "0",
    "XTERM TRUE COLORS": "1",
    "SSL": str(_HERE.ports.telnet_tls) if _HERE.certificate else "0",
}
