"""Regular expressions that hold a name, compiled once a name.

Python keeps only the last few hundred: with fifty agents, each pattern would be compiled
anew at every thought, which takes as long as the rest of the thought.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=8192)
def pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """``re.compile`` with a longer memory."""
    return re.compile(source, flags)
