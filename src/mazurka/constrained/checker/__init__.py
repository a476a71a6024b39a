"""Prove a schedule again, from nothing but the program and what the schedule says.

This shares nothing with the search but the language of terms. Three claims are proved, each from what the file says of
it, so a wrong file is found out whatever is wrong with it:

- The proof is inductive and safe: the initial state is one of node 0, each transition of a thread that may run leads to
  the node that its edge says, a state of a covered node is one of the covering node, and no transition that fails, or
  that has no edge, is possible.
- No execution ends too early or leaves out a thread: a thread that may run is enabled, some thread may run unless the
  program has ended, no threads wait for each other in a circle, and nobody is passed over for ever: in the graph
  without the nodes at which a thread may run, that thread is disabled at each node on a cycle, unless all that happens
  on it is what threads compute on their own in loops that are proved to end. (Whoever follows the schedule lets a
  thread run that may run again and again: that is what it has to promise.)
- Each section follows the proof without branches, its order keeps all dependent events apart, and the sections that
  begin where one ends are all that the threads need which may run there.
"""

from __future__ import annotations

from mazurka.constrained.checker.proofs import ProofCheck
from mazurka.constrained.checker.sections import SectionCheck
from mazurka.constrained.model import Model
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constrained.proof import Proof


def check(model: Model, schedule: ProgramSchedule) -> list[str]:
    """What does not hold, in words. If that is nothing, every execution under the schedule is safe, free of deadlocks
    and fair."""
    return check_proof(model, schedule.proof) or SectionCheck(model, schedule).problems()


def check_proof(model: Model, proof: Proof) -> list[str]:
    """What does not hold of the proof on its own."""
    return ProofCheck(model, proof).problems()
