"""The abstract engine: threads as guarded transitions, iterative IMPACT, incomplete verification results.

model/       a program as threads of guarded transitions, over bit-vector terms; questions about these, answered by Z3
extract/     from a `Program` to a `Model`
impact/      abstract reachability trees, strategies, complete verification, the game on all states
proof.py     what an iteration yields: a finite proof that its schedules are safe
plan.py      program schedules: a proof cut into sections, each a partial order of events
constants.py values that are known along a proof
files.py     schedules as JSON files
checker.py   proves a schedule again, independently of how it was found
follow.py    runs a program in the virtual machine as a schedule permits
picture.py   a schedule in words, as SVG, for Graphviz
enforce/     native programs that keep to a schedule
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from mazurka.constrained.model import Model


def load_model(
    files: Sequence[str | PathLike[str]],
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
) -> Model:
    """The model of a program from source files."""
    from mazurka.constrained.extract.extraction import extract
    from mazurka.executions.schedule import Transformations
    from mazurka.frontends.c import load_c_program, used_arguments
    from mazurka.leeway import TRUSTING
    from mazurka.machine.lowering import lower
    from mazurka.transforms import prepare

    # A loop that waits goes round: what it has read it may read again later, which matters to schedules.
    transforms = Transformations(purity=False)
    program = load_c_program(
        [str(file) for file in files],
        compiler_arguments=compiler_arguments,
        program_arguments=program_arguments,
        cc=cc,
        leeway=TRUSTING,
        inputs=True,
    )
    prepare(program, purity=transforms.purity, awaits=transforms.awaits, unroll=transforms.unroll)
    model = extract(program, lower(program), transforms)
    model.arguments, model.reads_environment = used_arguments(program)
    return model
