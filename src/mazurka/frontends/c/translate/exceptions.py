"""Exceptions, as ordinary control flow: `landingpad`, `resume`, and what follows a call that may throw.

Each thread has two variables of its own (`library/unwinding.h`), to which no other thread can get, so that accesses to
them are no events:

- the exception that is *in flight*, null otherwise. A function that an exception leaves returns, with this variable set
  (and an undefined value). After each call that may throw (`unwinding.py` finds out which) it is looked at: if an
  exception is in flight, control goes to the landing pad of the call, or leaves the function in turn. A landing pad
  takes the exception out of the variable, `resume` puts it back. Code runs only while it is null.
- the innermost of the calls under way whose landing pads would *handle* some exception. From the address of such a
  handler, which is in the frame of its function, the next one outwards is known, and the types that it is for. A call
  that may throw, and has such a landing pad, sets the variable before and restores it afterwards. By these, whoever
  throws knows whether anybody will catch the exception: if not, the program ends there and then, and no destructor is
  run.

Whether a handler catches an exception is decided by the runtime library, when it is thrown and once more in the landing
pad. `llvm.eh.typeid.for` and the clauses of landing pads number types alike, in the order in which they are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mazurka.frontends.c.linker import Address
from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import Cursor, Operand, Unsupported
from mazurka.frontends.c.translate.control import runs_atomically
from mazurka.frontends.c.translate.translator import Builtin, CallSite, Translation, Translator
from mazurka.frontends.c.unwinding import Site
from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, GlobalAddress, Register, Value
from mazurka.program.program import Block, GlobalVariable, Relocation
from mazurka.program.types import I32, PTR

_NULL = Constant(PTR)
# Of a handler: the next one outwards, and the clauses (`library/unwinding.h`).
_HANDLER_SIZE, _CLAUSES_OFFSET = 16, 8
_WORD = 8


def own_variable(t: Translator, name: str) -> Value:
    """The address of a variable of the thread."""
    address = t.linker.symbol(t.module, name)
    assert address is not None
    return t.address(address)


def _store(t: Translator, value: Value, address: Value) -> None:
    t.emit(ins.Store(value, address, align=_WORD))


def _load(t: Translator, address: Value) -> Register:
    return t.compute(PTR, ins.Load(address, align=_WORD))


# ---------------------------------------------------------------------------------------- instructions


def _landing_pad(t: Translator, cursor: Cursor, result: str | None) -> None:
    type_ = cursor.type()
    if type_ != llvm.Structure((llvm.POINTER, llvm.Scalar(I32))):
        raise Unsupported("a landing pad of another type than { ptr, i32 } is not supported")
    clauses = _clauses(t, cursor)
    t.clauses[t.block.name] = clauses
    in_flight = own_variable(t, ins.IN_FLIGHT)
    exception = _load(t, in_flight)
    _store(t, _NULL, in_flight)
    selected: Value | None = Constant(I32)
    if clauses is not None:
        t.linker.symbol(t.module, ins.HANDLERS)  # will be needed
        selected = t.call_library("__mazurka_select", [exception, clauses])
    assert selected is not None
    t.bind(result, [exception, selected])


def _clauses(t: Translator, cursor: Cursor) -> GlobalAddress | None:
    """A table of what a landing pad handles, in order: a number for each type, with the type (null is for all), or a
    number below 0 with a table of the types that are *not* handled there. 0 ends either."""
    table: list[tuple[int, Address | None]] = []
    while word := cursor.next():
        if word == "catch":
            type_ = _type_info(t, cursor.operand())
            table.append((selector(t, type_), type_))
        elif word == "filter":
            operand = cursor.operand()
            elements = operand.value.elements if isinstance(operand.value, llvm.Aggregate) else ()
            permitted = [(1, _type_info(t, element)) for element in elements]
            table.append((-len(table) - 1, Address(_table(t, permitted).name)))
        elif word != "cleanup":
            break
    return _table(t, table) if table else None


def _type_info(t: Translator, operand: Operand) -> Address | None:
    found = t.linker.evaluate(t.module, operand.value)
    if isinstance(found, Address):
        return found
    if found != 0:
        raise Unsupported("a landing pad with a clause of this form is not supported")
    return None


def selector(t: Translator, type_: Address | None) -> int:
    numbers = t.linker.selectors
    return numbers.setdefault((type_.name, type_.offset) if type_ else None, len(numbers) + 1)


def _table(t: Translator, entries: Sequence[tuple[int, Address | None]]) -> GlobalAddress:
    data = b"".join(number.to_bytes(_WORD, "little", signed=True) + bytes(_WORD) for number, _ in [*entries, (0, None)])
    places = [(2 * _WORD * index + _WORD, type_) for index, (_, type_) in enumerate(entries)]
    relocations = [Relocation(offset, type_.name, type_.offset) for offset, type_ in places if type_]
    variables = t.linker.program.globals
    name = f"{ins.CLAUSES}{len(variables)}"
    variables[name] = GlobalVariable(name, data, relocations, constant=True)
    return GlobalAddress(name)


def _resume(t: Translator, cursor: Cursor, result: str | None) -> None:
    _leave(t, t.operand(cursor.operand())[0])


def _leave(t: Translator, exception: Value) -> None:
    """Leave the function with an exception."""
    _store(t, exception, own_variable(t, ins.IN_FLIGHT))
    _return(t)
    t.linker.unwinding.leaves(t.function)


def _return(t: Translator) -> None:
    if runs_atomically(t):
        t.emit(ins.AtomicEnd())
    returns = t.function.returns
    t.emit(ins.Return(Constant(returns, undefined=True) if returns is not None else None, thrown=True))


INSTRUCTIONS: dict[str, Translation] = {
    "landingpad": _landing_pad,
    "resume": _resume,
}


def _number_of_type(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    return [Constant(I32, selector(t, _type_info(t, site.arguments[0][0])))]


def _unwind(t: Translator, site: CallSite, arguments: list[Value]) -> Sequence[Value]:
    _leave(t, arguments[0])
    return []


TYPE_NUMBER: Builtin = _number_of_type
UNWIND: Builtin = _unwind

# --------------------------------------------------------------------------------- calls that may throw


def unwind(t: Translator) -> None:
    """Look after each call that may throw whether it did."""
    calls = {site.call: site for site in t.calls if site.throws}
    if not calls:
        return
    tests = _Tests(t, any(map(partial(_clauses_of, t), calls.values())))
    for block in [*t.blocks.values(), *t.own_blocks]:
        last = block
        while site := next((calls[each] for each in last.instructions if each in calls), None):
            del calls[site.call]
            last = tests.insert(last, site)
        for label, end in t.ends.items():
            if end is block:
                t.ends[label] = last
    next(iter(t.blocks.values())).instructions[:0] = tests.before


def _clauses_of(t: Translator, site: Site) -> Value | None:
    return t.clauses.get(site.pad) if site.pad is not None else None


class _Tests:
    """`before` is what a function does before everything else, if it has handlers."""

    def __init__(self, t: Translator, handles: bool) -> None:
        self._t = t
        self._leave: Block | None = None
        self.before: list[ins.Instruction] = []
        if handles:
            self._handler = t.area(_HANDLER_SIZE)
            self._begin(t.function.location)
            self._outer = _load(t, own_variable(t, ins.HANDLERS))
            _store(t, self._outer, self._handler)
            self.before = t.block.instructions

    def _begin(self, location: ins.Location | None) -> None:
        self._t.block, self._t.location = Block(""), location

    def insert(self, block: Block, site: Site) -> Block:
        """Put a test behind a call in a block. All that comes after it becomes a block of its own."""
        t = self._t
        rest = t.new_block("called")
        position = block.instructions.index(site.call)
        before, rest.instructions = block.instructions[:position], block.instructions[position + 1 :]
        blocks = {each.name: each for each in (*t.blocks.values(), *t.own_blocks)}
        for target in successors(rest):
            for phi in blocks[target].phis:
                phi.incoming = [(rest.name if name == block.name else name, value) for name, value in phi.incoming]
        self._begin(site.call.location)
        clauses = _clauses_of(t, site)
        if clauses is not None:
            handlers = own_variable(t, ins.HANDLERS)
            _store(t, clauses, t.offset(self._handler, _CLAUSES_OFFSET))
            _store(t, self._handler, handlers)
        t.block.instructions.append(site.call)
        if clauses is not None:
            _store(t, self._outer, handlers)
        thrown = t.compare("ne", _load(t, own_variable(t, ins.IN_FLIGHT)), _NULL)
        t.emit(ins.Branch(thrown, self._way_out(site), rest.name))
        block.instructions = before + t.block.instructions
        if site.pad is not None:
            t.throws[site.label] = block
        return rest

    def _way_out(self, site: Site) -> str:
        if site.pad is not None:
            return site.pad
        t, test = self._t, self._t.block
        if site.silent:
            t.block = t.new_block("thrown")
            t.emit(ins.Fail("abort", "an exception leaves a function that is called as one that never throws"))
            name = t.block.name
        else:
            if self._leave is None:
                t.block = self._leave = t.new_block("leave")
                _return(t)
            name = self._leave.name
        t.block = test
        return name
