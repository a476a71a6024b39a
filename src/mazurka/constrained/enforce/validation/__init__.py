"""Whether a built program keeps to the proof of its schedule, whatever made its tables.

The tables are read from the C text that is compiled, and compared with the proof alone. A *stage* is a section of the
tables. That these four hold is what is proved, in this order:

1. *Some order of the events is one of the proof.* The program does not know at which node of the proof it is, only what
   it has seen. So a set of nodes is moved along: for every stage that can follow, an order of its events is looked for
   that the proof permits from all nodes of the set, whatever the inputs are. Steps that the scheduler does not see
   happen in between, where the proof has them. An event that decides how to go on leaves those nodes from which its
   thread can arrive where the option says; each place where it can arrive must have its option.
2. *All other orders are equivalent.* An event waits for others by their clocks; a thread begins a stage when all stages
   but the last are over. Two events that touch the same word, one of them writing, that print, or of which one ends the
   program must be ordered by that, within a stage and from one to the next. What an event touches is what it does
   natively: operations that are left out touch nothing, but then nobody may look at what they would have changed; and
   which block of the model stands for one that is made (`ghosts`) is nothing that a native program knows of.
   Redirected accesses touch a cell; they must read what they read in the order of 1.
3. *The scheduler never waits in vain*: who is waited for tells so, threads arrive at where they decide, and the place
   where a thread is expected to be at the end is the one where it is.
4. *Nobody is left out*: on a way that goes on for ever, a thread has events or is offered to have one again and again,
   or it cannot go on.

Then a native run is, up to the order of independent events, one that the proof covers: take the order of 1 of all of
its stages. Its waits are for events that come earlier in that order, so the first event in it that has not happened can
happen (3). By 2, each load reads what it reads there, so each thread does what it does there, and 1 applies again.

What is not looked at is how the calls of the scheduler are woven into the program.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from mazurka.constrained.enforce.validation.context import Context
from mazurka.constrained.enforce.validation.fairness import Fairness
from mazurka.constrained.enforce.validation.form import Form
from mazurka.constrained.enforce.validation.orders import Orders
from mazurka.constrained.enforce.validation.places import Line, Places
from mazurka.constrained.enforce.validation.reading import Unreadable, read_tables
from mazurka.constrained.enforce.validation.redirections import Redirections
from mazurka.constrained.enforce.validation.walks import Walks
from mazurka.constrained.model import Location
from mazurka.constrained.proof import Proof

__all__ = ["validate"]


def validate(
    proof: Proof,
    text: str,
    points: Mapping[Location, int],
    dropped: Mapping[Location, int | None],
    level: int,
    *,
    calls: Container[Line] = (),
    unused: Container[Line] = (),
) -> list[str]:
    """What does not hold, in words.

    `points` are the points of the locations at which the scheduler sees a thread. At `dropped` ones, an instruction of
    the program runs without the scheduler; a load gives the constant, an operation (None) is left out. At all others
    threads just go on. `calls` are the lines of the program that call functions: events there last until the function
    returns. `unused` are those whose result nobody looks at."""
    try:
        tables = read_tables(text)
    except Unreadable as error:
        return [f"the tables cannot be read: {error}"]
    context = Context(proof, tables, Places(proof, points, dropped, calls, unused), level)
    for problem in context.places.problems(tables):
        context.found[problem] = None
    walks = Walks(context)
    for part in (
        Form(context), walks, Orders(context, walks), Redirections(context, walks), Fairness(context, walks)
    ):  # fmt: skip
        if not context.found:  # each relies on those before it
            part.check()
    return list(context.found)
