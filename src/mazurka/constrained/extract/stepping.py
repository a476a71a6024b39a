"""Following one path of a thread: the instructions, one after the other, as the virtual machine executes them
(`native/vm/machine.cpp`), on terms instead of numbers.

Where it depends on a term how a thread goes on, the path divides. What the machine would report is a failure; what
cannot be followed is one of the kind "beyond". Each kind of instruction has a module: `conditions`, `arithmetic`,
`accesses`, `allocation`, `control`, each of which uses those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from mazurka.constrained.extract.control import ControlFlow
from mazurka.constrained.extract.paths import (
    Arrival,
    Beyond,
    Blocked,
    Ended,
    Fault,
    Later,
    LoopHead,
    Path,
    PathEnd,
    Slot,
    Split,
    SymbolicLocation,
    UndefinedValue,
    Value,
)
from mazurka.constrained.model import Input, Rest
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term
from mazurka.executions.faults import PLAIN
from mazurka.machine.layout import MAX_CHOICES, address_of
from mazurka.program import instructions as ins


class Runner(ControlFlow):
    """Runs one path until it ends or divides."""

    def run(self) -> list[Path]:
        """Run to the end; the paths that divided off."""
        try:
            while True:
                self.step()
                self.path.first = False
        except Split as split:  # nothing has happened yet
            return self.others + self._cases(split.atoms)
        except Arrival:
            self.arrive("event", silent=False)
        except LoopHead:
            self.arrive("loop", silent=True)
        except Blocked as blocked:
            self.block(blocked.waits, blocked.holder)
        except Ended as end:
            self.end(end.rest)
        except Fault as wrong:
            self.fail(wrong.kind, str(wrong))
        except Later:
            pass
        return self.others

    def _cases(self, atoms: Sequence[Term]) -> list[Path]:
        """The path once for each of the values that some variables can have, or elements of arrays."""
        cases = []
        for values in product(*(sorted(self.whole.values_of(atom) or ()) for atom in atoms)):
            case = self.path.copy()
            runner = Runner(self.whole, self.place, case, self.prefix)
            for atom, value in zip(atoms, values, strict=True):
                if not runner.assume(t.compare("eq", atom, t.constant(value, atom.width)), True):
                    break
            else:
                cases.append(case)
        return cases

    def step(self) -> None:
        instruction = self.path.frame.instruction
        match instruction:
            case ins.Binary() | ins.Compare() | ins.Convert() | ins.Unary() | ins.Select() | ins.Offset():
                self.compute(instruction)
            case ins.Load() | ins.Store() | ins.Update() | ins.CompareExchange():
                self.access(instruction)
            case ins.StackAlloc() | ins.HeapAlloc():
                self.allocate(instruction)
            case ins.Free() | ins.BlockSize():
                self.free(instruction)
            case ins.ThreadLocalAddress(name):
                number = self.whole.lowered.thread_locals.index(name)
                self.set(instruction.result, t.constant(address_of(self.path.thread + 1, 1 + number), 64))
            case ins.Call():
                self.call(instruction)
                return
            case ins.Spawn():
                self.spawn(instruction)
            case ins.Self():
                self.set(instruction.result, t.constant(address_of(self.path.thread + 1, 0), 64))
            case ins.Choose():
                self.choose(instruction)
            case ins.Assume():
                self.assumption(instruction)
            case ins.Await():
                if not self.path.depth:
                    raise Fault("abort", PLAIN["await_outside_section"])
                self.guard(self.defined(instruction.condition), "await", self.value(instruction.holder))
            case ins.Claim() | ins.Relax() | ins.Fence():
                pass
            case ins.MultiplyAdd():
                raise Beyond("floating-point numbers cannot be followed here")
            case ins.Landing() | ins.LongJump():
                raise Beyond("jumps between functions cannot be followed here")
            case ins.Output():
                self.path.prints = True
            case ins.AtomicBegin():
                self.may_take()
                self.path.depth += 1
            case ins.AtomicEnd():
                if not self.path.depth:
                    raise Fault("sync", PLAIN["section_not_begun"])
                self.path.depth -= 1
            case _:
                self.terminate(instruction)
                return
        self.advance()

    def assumption(self, instruction: ins.Assume) -> None:
        if instruction.origin == "bound" and self.path.depth:
            return
        value = self.value(instruction.condition)
        if isinstance(value, UndefinedValue):
            if instruction.origin == "loop":
                return
            raise Fault("memory", PLAIN["undefined_branch"])
        if self.path.depth:
            self.guard(value, "loop" if instruction.origin == "loop" else "assume")
        elif not self.branch(value):
            raise Ended("stuck")

    def choose(self, instruction: ins.Choose) -> None:
        self.may_take()
        path = self.path
        count = self.known(self.defined(instruction.count))
        few = t.compare("ule", count, t.constant(MAX_CHOICES, 32))
        self.require(few, "beyond", PLAIN["too_many_choices"])
        self.guard(t.negation(t.compare("eq", count, t.constant(0, 32))), "assume")
        name = f"{self.whole.memory.thread_names[path.thread]}:input{self.place.number}.{len(path.inputs)}"
        fresh = self._named_input(t.variable(name, 32), count)
        path.inputs.append(Input(fresh, count))
        self.set(instruction.result, t.constant(0, 32) if count is t.constant(1, 32) else fresh)

    def _named_input(self, fresh: Term, count: Term) -> Term:
        """Inputs of different sizes have different names."""
        while self.whole.input_counts.setdefault(fresh, count) is not count:
            fresh = t.variable(f"{fresh.name}'", 32)
        return fresh

    def arrive(self, kind: str, *, silent: bool) -> None:
        path = self.path
        try:
            place, values = self.whole.arrive(path, kind, silent=silent)
            started = self._begin_threads()
        except Beyond as beyond:
            self.fail("beyond", str(beyond))
            return
        if self.prefix:
            self._keep_image()
        self.place.outcomes.append(PathEnd(path, place, values, started))

    def end(self, rest: Rest) -> None:
        try:
            self.place.outcomes.append(PathEnd(self.path, rest, started=self._begin_threads()))
        except Beyond as beyond:
            self.fail("beyond", str(beyond))

    def _begin_threads(self) -> list[tuple[SymbolicLocation, dict[Slot, Value]]]:
        return [self.whole.start(*start) for start in self.path.starts]

    def _keep_image(self) -> None:
        """What the first thread does before its first event happens before everything else."""
        self.whole.image = dict(self.path.memory)
        self.path.memory.clear()
