"""The abstract engine: threads as guarded transitions, iterative IMPACT, incomplete verification results.

terms.py       expressions over bit-vectors and arrays
model.py       a program as threads of guarded transitions
extraction.py  from a `Program` to a `Model`, in rounds
paths.py       ... what is known of a thread at a location, and on the way from one to the next
stepping.py    ... the instructions on that way
memory.py      ... memory, as words and arrays
values.py      ... which values they can have
output.py      ... what is computed only to be printed
assembly.py    ... the locations and transitions that come of it
ranking.py     ... which local loops end, and why
liveness.py    ... which values are not needed any more
proof.py       what an iteration yields: a finite proof that its schedules are safe
solver.py      questions about terms, answered by Z3
tree.py        abstract reachability trees
summaries.py   ... what is known of local loops without going round in them
rounds.py      ... and how executions do go round
labels.py      ... what is known at their nodes: weakest preconditions
exploration.py ... how they grow, and what goes wrong on the way
strategy.py    incomplete verification results: schedules that are safe, deadlock-free and fair
complete.py    complete verification: all schedules
states.py      all states of a model, one by one
game.py        ... whether there is a safe schedule at all, and which
search.py      the face of it all
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from mazurka.engines.abstract.model import Model


def load_model(
    files: Sequence[str | PathLike[str]],
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
) -> Model:
    """The model of a program from source files."""
    from mazurka.engines.abstract.extraction import extract
    from mazurka.frontends.c import load_c_program, used_arguments
    from mazurka.schedule import Transformations
    from mazurka.transforms import prepare
    from mazurka.transforms.lowering import lower

    # A loop that waits goes round: what it has read it may read again later, which matters to schedules.
    transforms = Transformations(purity=False)
    program = load_c_program(
        [str(file) for file in files],
        compiler_arguments=compiler_arguments,
        program_arguments=program_arguments,
        cc=cc,
        inputs=True,
    )
    prepare(program, purity=transforms.purity, awaits=transforms.awaits, unroll=transforms.unroll)
    model = extract(program, lower(program), transforms)
    model.arguments, model.reads_environment = used_arguments(program)
    return model
