"""The objects of a program: functions, global variables, what each thread has of its own, and what is allocated."""

from __future__ import annotations

from mazurka.constrained.extract.memory import ADDRESS_MASK, Memory, Object
from mazurka.constrained.extract.paths import Beyond
from mazurka.constrained.extract.reuse import Reuse
from mazurka.constrained.model import StateVariable
from mazurka.constrained.model import terms as t
from mazurka.machine.layout import THREAD_BLOCK_SIZE, address_of, object_of
from mazurka.machine.lowering import Lowered
from mazurka.program import instructions as ins
from mazurka.program.names import demangle
from mazurka.program.program import Function, Program

_MOST_THREADS = 62


class Objects(Memory):
    """The memory of a program with the addresses that its objects have in the virtual machine. `thread_names` are those
    of the threads that are known to be created."""

    def __init__(self, program: Program, lowered: Lowered, reuse: Reuse) -> None:
        super().__init__(program.debug_types)
        self.thread_names: list[str] = []
        self.addresses: dict[str, int] = {}
        self.functions: dict[int, Function] = {}
        self._program = program
        self._lowered = lowered
        self._reuse = reuse
        self._made: dict[tuple[int, tuple[int, ...]], Object] = {}
        self._add_globals()
        self._add_thread("main")

    def _add_globals(self) -> None:
        number = 0
        self.add(Object(0, 0, "null", "null", "null", b"", constant=True))
        for name in self._lowered.functions:
            number += 1
            base = address_of(0, number)
            self.addresses[name] = base
            self.functions[base] = self._program.functions[name]
            self.add(Object(base, 0, "function", name, demangle(name), b"", constant=True))
        for name in self._lowered.globals:
            number += 1
            self.addresses[name] = address_of(0, number)
        for name in self._lowered.globals:
            self.add(self._global(name, self.addresses[name], None))

    def _global(self, name: str, base: int, thread: int | None) -> Object:
        variable = self._program.globals[name]
        data = bytearray(variable.data)
        for relocation in variable.relocations:
            address = (self.addresses[relocation.target] + relocation.addend) & ADDRESS_MASK
            data[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
        library = variable.location is not None and variable.location.file.startswith("<mazurka>")
        full, display = identifier(name), variable.display or name
        if thread is not None:
            full, display = f"{self.thread_names[thread]}:{full}", f"{self.thread_names[thread]}:{display}"
        return Object(
            base, len(data), "global" if thread is None else "thread-local", full, display, bytes(data), thread,
            variable.private, variable.constant, variable.debug_type, library,
        )  # fmt: skip

    def _add_thread(self, name: str) -> int:
        number = len(self.thread_names)
        self.thread_names.append(name)
        block = Object(address_of(number + 1, 0), THREAD_BLOCK_SIZE, "thread", name, name, bytes(THREAD_BLOCK_SIZE))
        block.owner = number
        self.add(block)
        for index, local in enumerate(self._lowered.thread_locals):
            made = self.add(self._global(local, address_of(number + 1, 1 + index), number))
            if not made.private:
                made.alive = _alive(made)
        return number

    def child(self, parent: int, count: int) -> int:
        """The number of a thread: the `count`th one that its parent creates."""
        name = f"{self.thread_names[parent]}.{count}"
        if name in self.thread_names:
            return self.thread_names.index(name)
        if len(self.thread_names) == _MOST_THREADS:
            raise Beyond("the program creates too many threads, or creates them in a loop that may never end")
        return self._add_thread(name)

    def object_made(
        self, thread: int, place: tuple[int, ...], size: int, instruction: ins.StackAlloc | ins.HeapAlloc
    ) -> Object:
        """What an instruction makes; the same object at the same `place`."""
        known = self._made.get((thread, (*place, size)))
        if known is not None:
            return known
        used = sum(1 for other, _ in self._made if other == thread)
        base = address_of(thread + 1, 1 + len(self._lowered.thread_locals) + used)
        made = Object(base, size, "heap", "block", "block", None, thread)
        if isinstance(instruction, ins.StackAlloc):
            made.kind, made.name = "stack", instruction.variable or "temporary"
            made.private, made.debug_type = instruction.private, instruction.debug_type
        elif instruction.zeroed:
            made.data = bytes(size)
        made.display = f"{self.thread_names[thread]}:{made.name}"
        made.name = f"{self.thread_names[thread]}:{identifier(made.name)}"
        if any(other.name == made.name for other in self._made.values()):
            made.name += f"#{used}"
        if not made.private:
            made.alive = _alive(made)
            if self._reuse.active:
                made.alive.initial = 0
                self._reuse.objects.add(object_of(made.base))
        self._made[thread, (*place, size)] = self.add(made)
        return made


def _alive(target: Object) -> StateVariable:
    """Whether an object still exists. (Before it does, nobody knows its address.)"""
    return StateVariable(t.variable(f"{target.name}.alive", 1), 1, display=f"whether {target.display} exists")


def identifier(name: str) -> str:
    """A name without what the names of variables cannot have."""
    return "".join(c if c.isalnum() or c in "_.$:#" else "_" for c in name) or "_"
