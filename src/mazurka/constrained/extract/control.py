"""Control flow: calls and returns, branches and loops, threads that begin and end."""

from __future__ import annotations

from mazurka.constrained.extract.allocation import Allocation
from mazurka.constrained.extract.paths import UNDEFINED, Beyond, Ended, Fault, Frame, LoopHead, UndefinedValue, Value
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term
from mazurka.executions.faults import PLAIN
from mazurka.machine.layout import THREAD_DONE, address_of, object_of
from mazurka.program import instructions as ins
from mazurka.program.names import demangle
from mazurka.program.program import Function

_MOST_KNOWN_ROUNDS = 20_000  # of loops, on a path, before the first event, where everything is known
_MOST_LOCAL_ROUNDS = 150  # ... elsewhere
_MOST_UNKNOWN_ROUNDS = 30  # ... and while what a loop computes is not known: terms would grow too deep
_MOST_SECTION_ROUNDS = 70  # of a loop in an atomic section, where it is not known how often it goes round


class ControlFlow(Allocation):
    def call(self, instruction: ins.Call) -> None:
        callee = instruction.callee
        if isinstance(callee, str):
            function = self.whole.program.functions[callee]
        else:
            function = self.function_at(self.value(callee), len(instruction.arguments))
            if self.path.frame.text and not self.path.frame.function.library:
                self.whole.targets.setdefault(self.path.frame.text[-1], set()).add(function.name)
        path = self.path
        if any(frame.function is function for frame in path.frames):
            raise Beyond(f"{demangle(function.name)} calls itself, which cannot be followed here; use a loop")
        ordinal = path.ordinal
        if function.library and not path.frame.function.library:
            path.ordinal = 0
        registers = dict(zip(function.parameters, map(self.value, instruction.arguments), strict=False))
        caller = path.frame
        where = (*caller.path, self.whole.code.positions[id(instruction)])
        path.frames.append(Frame(function, function.entry.name, 0, registers, where, ordinal=ordinal))

    def function_at(self, value: Value, arguments: int, *, exactly: bool = False) -> Function:
        if isinstance(value, UndefinedValue):
            raise Fault("memory", PLAIN["undefined_address"])
        address = self.known_number(value, exactly=exactly)
        function = self.whole.memory.functions.get(address)
        if function is None or len(function.parameters) > arguments:
            raise Fault("memory", "call of a null function pointer" if address == 0 else PLAIN["bad_call"])
        return function

    def spawn(self, instruction: ins.Spawn) -> None:
        path = self.path
        function = self.function_at(self.value(instruction.function), len(instruction.arguments), exactly=True)
        path.children += 1
        number = self.whole.memory.child(path.thread, path.children)
        path.several = True
        path.starts.append(
            (number, function, [self.value(a) for a in instruction.arguments][: len(function.parameters)])
        )
        self.set(instruction.result, t.constant(address_of(number + 1, 0), 64))

    def advance(self) -> None:
        self.path.frame.index += 1

    def terminate(self, instruction: ins.Instruction) -> None:
        path = self.path
        match instruction:
            case ins.Jump(target):
                self.enter(target)
            case ins.Branch(condition, if_true, if_false):
                self.enter(if_true if self.branch(self.defined(condition)) else if_false)
            case ins.Switch(value, cases, default):
                number = self.defined(value)
                self.require_like(instruction, [number])
                for key, target in cases:
                    if self.branch(t.compare("eq", number, t.constant(key, number.width))):
                        self.enter(target)
                        return
                self.enter(default)
            case ins.Return() if len(path.frames) > 1:
                self.leave(instruction)
            case ins.Return() | ins.EndThread():
                if path.depth > 1:
                    raise Fault("sync", PLAIN["section_not_ended"])
                self.may_take()
                if isinstance(instruction, ins.EndThread) and instruction.status is not None:
                    raise Ended("return")
                self.end_thread()
            case ins.Exit():
                self.may_take()
                raise Ended("exit")
            case ins.Fail("limit", message):
                raise Beyond(message)
            case ins.Fail(kind, message):
                raise Fault(kind, message)
            case ins.Unreachable():
                raise Fault("abort", PLAIN["unreachable"])
            case _:
                raise AssertionError(instruction)

    def enter(self, target: str) -> None:
        """Go to a block; where a loop comes round whose end is not known, the path ends there. From then on it does
        so whenever a thread comes to that head, so that a native program can tell when it is there. (What the library
        does in its loops, a native program does in its own way.)"""
        path = self.path
        frame = path.frame
        block = frame.function.blocks[target]
        incoming = [next(v for name, v in phi.incoming if name == frame.block) for phi in block.phis]
        values = [self.value(value) for value in incoming]
        depth = len(path.frames) - 1
        if (depth, target) in path.loops:
            path.back = True
        frame.block, frame.index = target, 0
        for phi, value in zip(block.phis, values, strict=True):
            frame.registers[phi.result] = value
        here = (depth, f"{frame.path}:{target}")
        head = (path.thread, frame.path, frame.function.name, target)
        if head in self.whole.heads and not path.depth:
            raise LoopHead
        rounds, forks = path.visits.get(here, (0, 0))
        path.visits[here] = (rounds + 1, len(path.decided))
        if not rounds:
            return
        if path.depth:
            known = forks == len(path.decided)
            if rounds > (_MOST_LOCAL_ROUNDS if known else _MOST_SECTION_ROUNDS):
                raise Beyond("a loop in an atomic section goes round too often, or has no end that is known")
            return
        limit = _MOST_KNOWN_ROUNDS if self.prefix else _MOST_LOCAL_ROUNDS
        if any(isinstance(value, Term) and not value.is_constant for value in values):
            limit = _MOST_UNKNOWN_ROUNDS
        if frame.function.library or self.whole.code.is_head(frame.function, target):
            path.rounds += 1
            ends_here = forks != len(path.decided) or path.rounds > limit
        else:  # only where a cycle has no head: else it has been met more often
            ends_here = rounds > 2 * limit
        if ends_here:
            if not frame.function.library:
                self.whole.add_head(head)
            raise LoopHead

    def leave(self, instruction: ins.Return) -> None:
        path = self.path
        frame = path.frame
        shared = [made for made in frame.objects if not made.private]
        if shared and path.several:
            self.may_take()
        for made in frame.objects:
            if made.alive is not None:
                self.end_object(made)
            else:
                self._drop(made)
            for word in made.words.values():
                path.private.pop(word, None)
                path.filled.discard(word)
        result = UNDEFINED if instruction.value is None else self.value(instruction.value)
        path.frames.pop()
        if frame.function.library and not path.frame.function.library:
            path.ordinal = frame.ordinal  # the library may have called user code that has called the library
        call = path.frame.instruction
        self.set(call.result, result)
        self.advance()

    def end_thread(self) -> None:
        path = self.path
        block = self.whole.memory.objects[object_of(address_of(path.thread + 1, 0))]
        self.write(self.whole.memory.at(block, THREAD_DONE, 4), t.constant(1, 32), shared=True)
        locals_ = [known for known in self.whole.memory.objects.values() if known.kind == "thread-local"]
        for known in [*(made for frame in path.frames for made in frame.objects), *locals_]:
            if known.owner == path.thread and known.alive is not None:
                self.end_object(known)
        raise Ended("end")
