"""The text of LLVM: its tokens, its types and how they lie in memory, its constants.

Only what clang prints for a C or C++ program without optimisation is understood; everything else is `Unsupported`,
which whoever knows the source line turns into an error for the user.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from mazurka.program.types import F32, F64, I64, PTR, Int, Type


class Unsupported(Exception):
    """A construct of the program that has no translation. The text names it, and a remedy if there is one."""


# ------------------------------------------------------------------------------------------------ types


@dataclass(frozen=True, slots=True)
class Scalar:
    """An integer, a float or a pointer."""

    type: Type


@dataclass(frozen=True, slots=True)
class Array:
    count: int
    element: LLVMType


@dataclass(frozen=True, slots=True)
class Vector:
    count: int
    element: LLVMType


@dataclass(frozen=True)
class Structure:
    """Those of C++ contain each other many levels deep, so what is computed of them is kept."""

    elements: tuple[LLVMType, ...]
    packed: bool = False

    @cached_property
    def alignment(self) -> int:
        return 1 if self.packed else max(map(alignment, self.elements), default=1)

    @cached_property
    def size(self) -> int:
        end = self.offsets[-1] + size_of(self.elements[-1]) if self.elements else 0
        return _round_up(end, self.alignment)

    @cached_property
    def offsets(self) -> list[int]:
        """Where each element begins."""
        result, position = [], 0
        for element in self.elements:
            if not self.packed:
                position = _round_up(position, alignment(element))
            result.append(position)
            position += size_of(element)
        return result


@dataclass(frozen=True, slots=True)
class FunctionType:
    returns: LLVMType
    parameters: tuple[LLVMType, ...]
    variadic: bool


@dataclass(frozen=True, slots=True)
class Other:
    """`void`, `label`, `metadata`, and the types of values that cannot be translated (as `x86_fp80`)."""

    name: str


LLVMType = Scalar | Array | Vector | Structure | FunctionType | Other

POINTER = Scalar(PTR)
WIDE = Other("i128")

_NAMES_IN_C = {"x86_fp80": "long double", "half": "_Float16", "bfloat": "__bf16", "fp128": "__float128"}


def _refuse_type(type_: LLVMType) -> Unsupported:
    name = str(type_.name) if isinstance(type_, Other) else str(type_)
    if re.fullmatch(r"i\d+", name):
        return Unsupported(f"an integer of {name[1:]} bits is not supported; use at most 64 bits, or 128")
    if name in _NAMES_IN_C:
        return Unsupported(f"the type {_NAMES_IN_C[name]} is not supported; use float or double")
    return Unsupported(f"a value of the LLVM type {name} is not supported")


def _round_up(value: int, align: int) -> int:
    return (value + align - 1) // align * align


def alignment(type_: LLVMType) -> int:
    """The alignment of a type in the x86-64 ABI, in bytes."""
    match type_:
        case Scalar(scalar):
            return scalar.size
        case Array(_, element):
            return alignment(element)
        case Vector():
            return 1 << max(size_of(type_) - 1, 0).bit_length()
        case Structure():
            return type_.alignment
        case Other("x86_fp80" | "i128" | "fp128"):
            return 16
    raise _refuse_type(type_)


def size_of(type_: LLVMType) -> int:
    """Bytes from one element of an array of this type to the next."""
    match type_:
        case Scalar(scalar):
            return scalar.size
        case Array(count, element):
            return count * size_of(element)
        case Vector(count, element):
            size = count * size_of(element)
            return 1 << (size - 1).bit_length() if size else 0
        case Structure():
            return type_.size
        case Other("x86_fp80" | "i128" | "fp128"):
            return 16
    raise _refuse_type(type_)


def leaves(type_: LLVMType) -> list[tuple[int, Type]]:
    """The scalars that a type consists of, each with its offset in bytes."""
    match type_:
        case Scalar(scalar):
            return [(0, scalar)]
        case Array(count, element) | Vector(count, element):
            step, inner = size_of(element), leaves(element)
            if isinstance(type_, Vector) and any(isinstance(leaf, Int) and leaf.bits % 8 for _, leaf in inner):
                raise Unsupported("a vector of bits is not supported")
            return [(index * step + offset, leaf) for index in range(count) for offset, leaf in inner]
        case Structure(elements):
            return [
                (start + offset, leaf)
                for start, element in zip(type_.offsets, elements, strict=True)
                for offset, leaf in leaves(element)
            ]
        case Other("void"):
            return []
        case Other("i128"):  # two words, the lower one first
            return [(0, I64), (8, I64)]
    raise _refuse_type(type_)


def element_at(type_: LLVMType, index: int) -> tuple[int, LLVMType]:
    """The offset and the type of an element of an aggregate."""
    match type_:
        case Structure(elements):
            return type_.offsets[index], elements[index]
        case Array(_, element) | Vector(_, element):
            return index * size_of(element), element
    raise _refuse_type(type_)


# --------------------------------------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class Local:
    """`%name`: a parameter or the result of an instruction."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """`@name`: the address of a function or a global variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: int | float


@dataclass(frozen=True, slots=True)
class Zero:
    """`null`, `zeroinitializer`: zero of any type."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """`undef`, `poison`."""


@dataclass(frozen=True, slots=True)
class Characters:
    """`c"..."`: an array of bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Aggregate:
    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """A constant that the linker would compute. `source` is the type that a `getelementptr` steps through."""

    op: str
    operands: tuple[Operand, ...]
    source: LLVMType | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """The address of a label of a function, for a computed goto."""

    function: str
    block: str


@dataclass(frozen=True, slots=True)
class Assembly:
    template: str
    constraints: str


LLVMValue = Local | Symbol | Number | Zero | Undefined | Characters | Aggregate | Expression | Label | Assembly


@dataclass(frozen=True, slots=True)
class Operand:
    type: LLVMType
    value: LLVMValue


@dataclass(frozen=True, slots=True)
class Attributes:
    """What matters of the attributes of a parameter or an argument."""

    align: int = 1
    byval: LLVMType | None = None


# ------------------------------------------------------------------------------------------------ tokens

_TOKEN = re.compile(
    r"""\s+ | ;[^\n]*
    | (?P<token>
        c?"[^"]*"                                   # a string; a quote in it is escaped as \22
      | [%@$](?:"[^"]*"|[-\w.$]+) | \#\w+           # names, attribute groups
      | !(?:"[^"]*"|[\w.]+)? | \|                   # metadata
      | f?0x[KLMHR]?[0-9A-Fa-f]+ | [-+]?\d+\.\d*(?:e[-+]?\d+)? | [-+]?(?:inf|nan|qnan)\b | -?\d+
      | [A-Za-z_][-\w.]* | \.\.\. | [][(){}<>,=*:]
    )""",
    re.VERBOSE,
)
_DEBUG = re.compile(r"!dbg !(\d+)")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|\\)")


def tokens_of(text: str) -> list[str]:
    return [match["token"] for match in _TOKEN.finditer(text) if match["token"] is not None]


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the tokens begin and end."""
    return [match.span("token") for match in _TOKEN.finditer(text) if match["token"] is not None]


def debug_of(text: str) -> int | None:
    """The number of the metadata that says where in the source this comes from."""
    found = _DEBUG.search(text)
    return int(found[1]) if found else None


def unescape(text: str) -> bytes:
    r"""The bytes that the inside of a string stands for: `\0A` is a newline."""

    def character(match: re.Match[bytes]) -> bytes:
        return b"\\" if match[1] == b"\\" else bytes([int(match[1], 16)])

    return _ESCAPE.sub(character, text.encode("utf-8", "surrogateescape"))


def name_of(token: str) -> str:
    """The name in `%name`, `@name`, `$name` or their quoted forms. A byte 1 before it says that the name was given as
    an `asm` label, to be taken as it is; all are."""
    if token[1:2] != '"':
        return token[1:]
    return unescape(token[2:-1]).decode("utf-8", "replace").removeprefix("\x01")


# Words that begin a value. Every other word before a value is an attribute or a flag.
_VALUE_WORDS = frozenset(
    {
        "add", "addrspacecast", "asm", "bitcast", "blockaddress", "dso_local_equivalent", "false", "getelementptr",
        "inttoptr", "mul", "no_cfi", "none", "null", "poison", "ptrauth", "ptrtoaddr", "ptrtoint", "shl", "splat",
        "sub", "true", "trunc", "undef", "xor", "zeroinitializer",
    }
)  # fmt: skip
_TYPE_WORD = re.compile(
    r"i\d+|ptr|void|float|double|half|bfloat|fp128|x86_fp80|ppc_fp128|x86_amx|label|metadata|token|opaque"
)
_CONVERSIONS = frozenset({"ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc"})
_ATTRIBUTE_TYPES = frozenset({"byval", "sret", "inalloca", "byref", "preallocated", "elementtype"})


class Cursor:
    """Reads types, values and attributes off a list of tokens. `named` gives the types that `%name` stands for."""

    __slots__ = ("named", "position", "tokens")

    def __init__(self, tokens: list[str], named: Callable[[str], LLVMType], position: int = 0) -> None:
        self.tokens = tokens
        self.position = position
        self.named = named

    def peek(self, ahead: int = 0) -> str:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.position += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise Unsupported(f"the LLVM instruction `{' '.join(self.tokens)}` is not understood")

    def items(self, end: str) -> Iterator[None]:
        """Yield once before each item of a list, which is separated by commas and closed by `end`."""
        while not self.accept(end):
            yield
            if not self.accept(","):
                self.expect(end)
                return

    def skip_group(self) -> None:
        """Skip a balanced `( ... )`."""
        self.expect("(")
        depth = 1
        while depth:
            token = self.next()
            if not token:
                raise Unsupported(f"the LLVM text `{' '.join(self.tokens)}` is not understood")
            depth += (token == "(") - (token == ")")

    def skip_words(self) -> None:
        """Skip flags such as `nsw`, `inbounds`, `fast`, `volatile`, up to a type or a value."""
        while (token := self.peek())[:1].isalpha() and not _TYPE_WORD.fullmatch(token) and token not in _VALUE_WORDS:
            self.position += 1
            if self.peek() == "(":
                self.skip_group()

    def attributes(self) -> Attributes:
        """Skip the attributes of a parameter, a result or an argument, and keep what matters of them."""
        align, byval = 1, None
        while (token := self.peek()) and (token[0].isalpha() or token[0] in '"#'):
            if _TYPE_WORD.fullmatch(token) or token in _VALUE_WORDS:
                break
            self.position += 1
            if token == "align":
                parenthesised = self.accept("(")
                align = int(self.next())
                if parenthesised:
                    self.expect(")")
            elif token == "cc":
                self.position += 1
            elif token in _ATTRIBUTE_TYPES and self.accept("("):
                type_ = self.type()
                self.expect(")")
                if token == "byval":
                    byval = type_
                elif token in ("inalloca", "preallocated"):
                    raise Unsupported(f"an argument passed as {token} is not supported")
            elif token[0] == '"' and self.accept("="):
                self.position += 1
            elif self.peek() == "(":
                self.skip_group()
        return Attributes(align, byval)

    def at_type(self) -> bool:
        token = self.peek()
        return token[:1] in ("{", "[", "<", "%") or _TYPE_WORD.fullmatch(token) is not None

    def type(self) -> LLVMType:
        type_ = self._plain_type()
        while self.accept("("):
            parameters: list[LLVMType] = []
            variadic = False
            for _ in self.items(")"):
                if self.accept("..."):
                    variadic = True
                else:
                    parameters.append(self.type())
            type_ = FunctionType(type_, tuple(parameters), variadic)
        return type_

    def _plain_type(self) -> LLVMType:
        token = self.next()
        if token == "ptr":
            if self.accept("addrspace"):
                self.skip_group()
                raise Unsupported("a pointer into another address space is not supported")
            return POINTER
        if token[0] == "i" and token[1:].isdigit():
            bits = int(token[1:])
            return Scalar(Int(bits)) if bits <= 64 else Other(token)
        if token == "float":
            return Scalar(F32)
        if token == "double":
            return Scalar(F64)
        if token[0] == "%":
            return self.named(name_of(token))
        if token == "[":
            count = int(self.next())
            self.expect("x")
            element = self.type()
            self.expect("]")
            return Array(count, element)
        if token == "<":
            if self.accept("{"):
                structure = self._structure(packed=True)
                self.expect(">")
                return structure
            if self.peek() == "vscale":
                raise Unsupported("a scalable vector is not supported")
            count = int(self.next())
            self.expect("x")
            element = self.type()
            self.expect(">")
            return Vector(count, element)
        if token == "{":
            return self._structure(packed=False)
        if _TYPE_WORD.fullmatch(token):
            return Other(token)
        raise Unsupported(f"the LLVM type `{token}` is not understood")

    def _structure(self, packed: bool) -> Structure:
        return Structure(tuple([self.type() for _ in self.items("}")]), packed)

    def operand(self) -> Operand:
        """A type and a value of it."""
        type_ = self.type()
        return Operand(type_, self.value(type_))

    def argument(self) -> tuple[Operand, Attributes]:
        """A type, attributes and a value, as in a call."""
        type_ = self.type()
        if type_ == Other("metadata"):
            while self.peek() not in (",", ")", ""):
                self.position += 1
                if self.peek() == "(":
                    self.skip_group()
            return Operand(type_, Undefined()), Attributes()
        attributes = self.attributes()
        return Operand(type_, self.value(type_)), attributes

    def arguments(self) -> list[tuple[Operand, Attributes]]:
        """All of a call."""
        self.expect("(")
        return [self.argument() for _ in self.items(")")]

    def call_type(self) -> LLVMType:
        """What comes between a call and what is called: the type of the function, or of what it returns."""
        self.attributes()
        if self.accept("addrspace"):
            self.skip_group()
        return self.type()

    def value(self, type_: LLVMType) -> LLVMValue:
        token = self.next()
        first = token[:1]
        if first == "%":
            return Local(name_of(token))
        if first == "@":
            return Symbol(name_of(token))
        if token in ("null", "zeroinitializer", "none"):
            return Zero()
        if token in ("undef", "poison"):
            return Undefined()
        if token in ("true", "false"):
            return Number(int(token == "true"))
        if token[:2] == 'c"':
            return Characters(unescape(token[2:-1]))
        if token == "splat":
            self.expect("(")
            element = self.operand()
            self.expect(")")
            if not isinstance(type_, Vector):
                raise _refuse_type(type_)
            return Aggregate((element,) * type_.count)
        if token in ("{", "["):
            return self._elements("}" if token == "{" else "]")
        if token == "<":
            if self.accept("{"):
                aggregate = self._elements("}")
                self.expect(">")
                return aggregate
            return self._elements(">")
        if token == "asm":
            return self._assembly()
        if token in _VALUE_WORDS:
            return self._expression(token)
        return Number(_number(token, type_))

    def _elements(self, end: str) -> Aggregate:
        return Aggregate(tuple([self.operand() for _ in self.items(end)]))

    def _assembly(self) -> Assembly:
        while self.peek()[:1] != '"':
            self.position += 1
        template = unescape(self.next()[1:-1]).decode("utf-8", "replace")
        self.expect(",")
        return Assembly(template, unescape(self.next()[1:-1]).decode("utf-8", "replace"))

    def _expression(self, op: str) -> LLVMValue:
        if op in ("dso_local_equivalent", "no_cfi"):
            return Symbol(name_of(self.next()))
        if op == "blockaddress":
            self.expect("(")
            function = name_of(self.next())
            self.expect(",")
            block = name_of(self.next())
            self.expect(")")
            return Label(function, block)
        if op == "ptrauth":
            raise Unsupported("a signed pointer is not supported")
        while self.peek() != "(":
            self.position += 1
            if self.tokens[self.position - 1] == "inrange":
                self.skip_group()
        self.expect("(")
        source = None
        if op == "getelementptr":
            source = self.type()
            self.expect(",")
        operands = [self.operand()]
        if op in _CONVERSIONS:
            self.expect("to")
            self.type()
            self.expect(")")
        else:
            while self.accept(","):
                operands.append(self.operand())
            self.expect(")")
        return Expression(op, tuple(operands), source)


def _number(token: str, type_: LLVMType) -> int | float:
    try:
        if token.startswith(("0xK", "0xL", "0xM", "0xH", "0xR")):
            return 0  # of a type that cannot be translated, which is refused wherever such a value is used
        if token.startswith("0x"):
            # Floats of either width are printed as the bits of a double.
            return float(struct.unpack(">d", bytes.fromhex(token[2:].zfill(16)))[0])
        if "." in token or token.lstrip("+-") in ("inf", "nan", "qnan"):
            return float(token.replace("qnan", "nan"))
        return int(token)
    except ValueError:
        raise Unsupported(f"the LLVM constant `{token}` of type {type_} is not understood") from None
