"""The servers that a section of ``llm.md`` lists under ``host``.

Each may have settings of its own::

    **host**:
    - http://10.0.0.5:11434
    - http://10.0.0.6:8000, provider: openai, model: qwen2.5-7b-instruct

or, behind one another, ``**host**: http://10.0.0.5:11434, http://10.0.0.7:11434``.
"""

from __future__ import annotations

import re

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigSection, Setting

OWN = ("provider", "server", "model", "in_flight", "context_tokens", "time_limit")
"""What a server may have of its own; all else is as the section says."""
_SETTING = re.compile(r"(?P<key>[a-z_]+):\s+(?P<value>\S.*)$")


def listed(section: ConfigSection) -> list[dict[str, Setting]]:
    """The settings of each server that ``host`` names: its address, and what it has of its own.

    They stand behind one another, with commas, or in a list below. ``key: value`` belongs to the
    address before it.

    Raises:
        ConfigError: Something of it cannot be read.
    """
    host = section.entries.get("host")
    found: list[dict[str, Setting]] = []
    for line in (host.items or (host,)) if host else ():
        for number, part in enumerate(each.strip() for each in line.value.split(",")):
            own = _SETTING.match(part)
            if own is None:
                found.append({"host": Setting(part, line.line)})
            elif number == 0:
                raise _refused(section, line, f"{part!r} stands before any address")
            elif own["key"] not in OWN:
                raise _refused(section, line, f"a server has no {own['key']} of its own")
            else:
                found[-1][own["key"]] = Setting(own["value"], line.line)
    if len(found) > 1 and (empty := [each["host"] for each in found if not each["host"].value]):
        raise _refused(section, empty[0], "there is no address between two commas")
    return found


def _refused(section: ConfigSection, line: Setting, reason: str) -> ConfigError:
    cure = f"Write: ADDRESS, key: value, ... where a key is one of {', '.join(OWN)}"
    return ConfigError(section.path, line.line, f"host: {reason}", cure)
