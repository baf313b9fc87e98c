"""What lists of games are told (MSSP), beside what Evennia adds: name, players, ports."""

from __future__ import annotations

import time

from keepsake.paths import places

_HERE = places()

MSSPTable = {
    "UPTIME": str(int(time.time())),  # when it started, by the protocol
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
