"""Where warnings point to."""

from __future__ import annotations

import sys


def user_level() -> int:
    """The stack level of the first frame outside pegasos and scikit-learn: the user's line, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("pegasos", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
