"""What pointers point to, in the types of the source, as far as the variables tell through which they go.

A pointer has no type but in the source: it is that of the variable, parameter or member that it is stored in or loaded
from. Local variables are about to go to registers, where nothing is known of them, so each register is told before.
Nothing but the names in traces depends on it.
"""

from __future__ import annotations

from mazurka.program.cfg import reverse_postorder
from mazurka.program.instructions import Constant, GlobalAddress, Load, Offset, Register, StackAlloc, Store, Value
from mazurka.program.names import parts_at
from mazurka.program.program import Function, Program
from mazurka.program.types import PTR, signed


def find_pointees(program: Program) -> None:
    """Set `points_to` of the registers whose values come from, or go to, typed variables."""
    for function in program.functions.values():
        if not function.library:
            _Pointees(program, function).find()


class _Pointees:
    """Addresses are followed in one function, in an order in which definitions come before uses."""

    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._function = function
        self._places: dict[Register, tuple[str, int]] = {}  # the type of an object, and an offset in it

    def find(self) -> None:
        for name in reverse_postorder(self._function):
            for instruction in self._function.blocks[name].instructions:
                match instruction:
                    case StackAlloc(debug_type=str(key), result=Register() as result):
                        self._places[result] = key, 0
                    case Offset(base, Constant(value=int(index)), scale, displacement, result=Register() as result):
                        if (place := self._place(base)) is not None:
                            offset = signed(index, 64) * scale + displacement
                            self._places[result] = place[0], place[1] + offset
                    case Load(address, result=Register(type=type) as result) if type == PTR:
                        self._tell(result, address)
                    case Store(Register(type=type) as value, address) if type == PTR:
                        self._tell(value, address)

    def _place(self, address: Value) -> tuple[str, int] | None:
        if isinstance(address, GlobalAddress):
            variable = self._program.globals.get(address.name)
            return (variable.debug_type, address.offset) if variable and variable.debug_type else None
        if not isinstance(address, Register):
            return None
        return self._places.get(address) or (address.points_to and (address.points_to[0], 0)) or None

    def _tell(self, pointer: Register, address: Value) -> None:
        """What was loaded from an address, or is stored there, points to what the member there says."""
        place = self._place(address)
        if place is None or pointer in self._places:
            return
        *_, part = parts_at(self._program.debug_types, *place, size=8)
        kind = self._program.debug_types.get(part.type or "")
        if part.offset == 0 and kind is not None and kind.kind == "pointer" and kind.element is not None:
            pointer.point_to(kind.element)
