"""Whether threads that were created alike are alike: whether a program cannot tell them apart by their names.

Executions in which such threads change places are then the same but for names, and one of them is enough
(docs/exploration.md). What an execution shows is looked at by the explorer: who creates threads, who waits for their
ends, and whether addresses of blocks are taken for numbers. Here is what has to be known of the whole program: that
nobody asks for the name of a thread, and that handles are for nothing but joining and detaching.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, GlobalAddress, Instruction, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Function, Program

_CREATE = frozenset(("pthread_create", "thrd_create"))
_JOIN = frozenset(("pthread_join", "thrd_join"))
_DETACH = frozenset(("pthread_detach", "thrd_detach"))
# Functions of the library that know which thread they are in, and do nothing with it that depends on its name: they
# compare it with who has a lock, or put it into the set of those that wait.
_DISCREET = frozenset((
    "pthread_mutex_lock", "pthread_mutex_unlock", "try_lock", "lock_in_section", "unlock_in_section", "start_waiting",
    "wakes_without_signal", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_barrier_wait", "pthread_join",
    "end_with", "pthread_once", "wait_at", "is_requested", "pthread_spin_lock", "pthread_spin_trylock",
    "pthread_spin_unlock", "pthread_spin_init", "__cxa_guard_acquire", "__mazurka_atomic_wait",
))  # fmt: skip
# Functions that are about one thread among others, or whose answers are.
_TELLING = frozenset((
    "pthread_self", "thrd_current", "pthread_equal", "thrd_equal", "gettid", "pthread_cancel", "pthread_tryjoin_np",
    "pthread_timedjoin_np",
))  # fmt: skip
_ERRNO = "__errno_location"


def find_asymmetry(program: Program) -> str | None:
    """Why threads are not taken to be alike; None: they may be."""
    for function in program.functions.values():
        for instruction in function.instructions:
            if why := _told(function, instruction):
                return f"{why} at {instruction.location}" if instruction.location else why
    handles = _Handles(program)
    return handles.told_apart()


def _told(function: Function, instruction: Instruction) -> str | None:
    inlined = instruction.location.library if instruction.location is not None else None
    library = inlined or (function.name if function.library else None)
    match instruction:
        case ins.Self() if library not in _DISCREET:
            return f"{library or 'the program'} asks which thread it is in"
        case ins.Spawn() if library is None:
            return "the program creates threads by itself"
        case ins.Call(str(name)) if name in _TELLING:
            return f"{name} tells threads apart"
        case ins.Call(str(name), arguments) if name in _JOIN and library is None and not _is_null(arguments[1]):
            return f"what {name} returns tells threads apart"
        case _:
            return None


def _is_null(value: Value) -> bool:
    return isinstance(value, Constant) and value.value == 0


class _Handles:
    """What becomes of the variables that hold handles, and of addresses that each thread has another of."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.own = [function for function in program.functions.values() if not function.library]

    def told_apart(self) -> str | None:
        variables: set[str] = set()
        for function in self.own:
            locals_: set[Register] = set()
            for instruction in function.instructions:
                if isinstance(instruction, ins.Call) and instruction.callee in _CREATE:
                    match self._base(function, instruction.arguments[0]):
                        case GlobalAddress(name):
                            variables.add(name)
                        case Register() as register:
                            locals_.add(register)
                        case _:
                            return f"a handle is kept in an unknown place at {instruction.location}"
            if at := self._other_use(function, self._addresses(function, locals_)):
                return f"the handles of threads are used for something else at {at.location}"
            own = self._addresses(function, self._own_addresses(function))
            if at := next((use for use in self._uses(function, own) if not _only_follows(use, own)), None):
                return f"the address of what each thread has one of is used at {at.location}"
        for variable in self.program.globals.values():
            if any(relocation.target in variables for relocation in variable.relocations):
                return f"the handles of threads are known to '{variable.name}'"
        for function in self.own:
            named = {
                value
                for instruction in function.instructions
                for value in operands(instruction)
                if isinstance(value, GlobalAddress) and value.name in variables
            }
            if any(_in_phi(function, value.name) for value in named):
                return "the handles of threads are used for something else"
            if named and (at := self._other_use(function, self._addresses(function, named))):
                return f"the handles of threads are used for something else at {at.location}"
        return None

    def _base(self, function: Function, address: Value) -> Value | None:
        """The variable that an address points into."""
        made = {one.result: one for one in function.instructions if one.result is not None}
        while isinstance(address, Register):
            match made.get(address):
                case ins.Offset(base):
                    address = base
                case ins.StackAlloc() | ins.Call("malloc" | "calloc"):
                    return address
                case _:
                    return None
        return address if isinstance(address, GlobalAddress) else None

    @staticmethod
    def _own_addresses(function: Function) -> set[Register]:
        return {
            one.result
            for one in function.instructions
            if one.result is not None
            and (isinstance(one, ins.ThreadLocalAddress) or (isinstance(one, ins.Call) and one.callee == _ERRNO))
        }

    @staticmethod
    def _addresses(function: Function, bases: set[Register] | set[GlobalAddress]) -> set[Value]:
        """What points into these variables."""
        found: set[Value] = set(bases)
        size = -1
        while size != len(found):
            size = len(found)
            found.update(
                one.result
                for one in function.instructions
                if isinstance(one, ins.Offset) and one.base in found and one.result is not None
            )
        return found

    @staticmethod
    def _uses(function: Function, values: set[Value]) -> Iterator[Instruction]:
        if any(
            value in values for block in function.blocks.values() for phi in block.phis for _, value in phi.incoming
        ):
            yield function.entry.instructions[0]
        for instruction in function.instructions:
            if any(value in values for value in operands(instruction)):
                yield instruction

    def _other_use(self, function: Function, handles: set[Value]) -> Instruction | None:
        """Where these variables are used for anything but creating, joining and detaching."""
        for use in self._uses(function, handles):
            match use:
                case ins.Offset(base, index) if base in handles and index not in handles:
                    continue
                case ins.Call(str(name), [_, *others]) if name in _CREATE and not handles.intersection(others):
                    continue
                case ins.Call("free"):
                    continue
                case ins.Call("memset", [_, Constant(), Constant()]):
                    continue
                case ins.Compare("eq" | "ne", left, right) if _is_null(left) or _is_null(right):
                    continue
                case ins.Store(Constant()):
                    continue
                case ins.Load(result=Register() as loaded):
                    if all(_joins(one, loaded) for one in self._uses(function, {loaded})):
                        continue
            return use
        return None


def _in_phi(function: Function, name: str) -> bool:
    return any(
        isinstance(value, GlobalAddress) and value.name == name
        for block in function.blocks.values()
        for phi in block.phis
        for _, value in phi.incoming
    )


def _joins(use: Instruction, handle: Register) -> bool:
    return (
        isinstance(use, ins.Call)
        and use.callee in _JOIN | _DETACH
        and use.arguments[0] is handle
        and handle not in use.arguments[1:]
    )


def _only_follows(use: Instruction, addresses: set[Value]) -> bool:
    """Whether nothing is made of these addresses but to read or write there."""
    match use:
        case ins.Offset(base, index):
            return base in addresses and index not in addresses
        case ins.Load():
            return True
        case ins.Store(value):
            return value not in addresses
        case ins.Update(value=value):
            return value not in addresses
        case ins.CompareExchange(expected=expected, desired=desired):
            return expected not in addresses and desired not in addresses
        case _:
            return False
