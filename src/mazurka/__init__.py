"""Mazurka checks concurrent programs: all executions, or the one that shows the bug.

    >>> import mazurka
    >>> result = mazurka.check("examples/lost_update.c")
    >>> result.verdict
    <Verdict.BUG: 'bug'>
    >>> result.bug.message
    'assertion `counter == 2` failed'

`check` answers with a `Result`, a plain value: the verdict, what was covered (`Executions`, or `States` with
`engine="stateful"`), data races, and for a bug the `Trace` and the `Schedule`, which `replay` executes again.
`find_schedules` looks for schedules under which a program is safe, `fences` for the least that has to be stronger, of
memory orders and fences. What cannot be checked raises `InputError`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mazurka.checking import check, load, replay
    from mazurka.constraining import find_schedules
    from mazurka.engines.stateful import StateProgress
    from mazurka.engines.stateless import Progress
    from mazurka.errors import InputError, MazurkaError
    from mazurka.executions.schedule import Schedule
    from mazurka.executions.trace import Trace
    from mazurka.fencing import Change, FencesProgress, FoundFences, Proposal, fences
    from mazurka.program.program import Program
    from mazurka.result import Bug, Executions, Finding, Limit, Race, Result, States, Verdict

    __version__: str

__all__ = [
    "Bug",
    "Change",
    "Executions",
    "FencesProgress",
    "Finding",
    "FoundFences",
    "InputError",
    "Limit",
    "MazurkaError",
    "Program",
    "Progress",
    "Proposal",
    "Race",
    "Result",
    "Schedule",
    "StateProgress",
    "States",
    "Trace",
    "Verdict",
    "__version__",
    "check",
    "fences",
    "find_schedules",
    "load",
    "replay",
]

# Where each name lives; imported when it is first used, so that `import mazurka` costs nothing.
_HOMES = {
    "Bug": "mazurka.result",
    "Change": "mazurka.fencing",
    "Executions": "mazurka.result",
    "FencesProgress": "mazurka.fencing",
    "Finding": "mazurka.result",
    "FoundFences": "mazurka.fencing",
    "InputError": "mazurka.errors",
    "Limit": "mazurka.result",
    "MazurkaError": "mazurka.errors",
    "Program": "mazurka.program.program",
    "Progress": "mazurka.engines.stateless",
    "Proposal": "mazurka.fencing",
    "Race": "mazurka.result",
    "Result": "mazurka.result",
    "Schedule": "mazurka.executions.schedule",
    "StateProgress": "mazurka.engines.stateful",
    "States": "mazurka.result",
    "Trace": "mazurka.executions.trace",
    "Verdict": "mazurka.result",
    "check": "mazurka.checking",
    "fences": "mazurka.fencing",
    "find_schedules": "mazurka.constraining",
    "load": "mazurka.checking",
    "replay": "mazurka.checking",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("mazurka")
        except PackageNotFoundError:  # used from a source tree
            return "unknown"
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'mazurka' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
