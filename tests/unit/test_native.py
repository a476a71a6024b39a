"""The native module, its stub and Python's own words say the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import mazurka
from mazurka import _native
from mazurka.executions import faults
from mazurka.machine import layout
from mazurka.machine.lowering import lower
from mazurka.program import instructions as ins
from mazurka.program.builder import ProgramBuilder

STUB = ast.parse((Path(mazurka.__file__).parent / "_native.pyi").read_text())
ALIASES = {
    target.id: ast.unparse(node.value)
    for node in STUB.body
    if isinstance(node, ast.Assign)
    for target in node.targets
    if isinstance(target, ast.Name)
}
# Of each parameter its name, type, default and whether it is only for keywords; and the type of the result.
Signature = tuple[list[tuple[str, str, str, bool]], str]


def stub_signature(function: ast.FunctionDef) -> Signature:
    arguments, keywords = function.args, function.args.kwonlyargs
    assert arguments.vararg is None and arguments.kwarg is None and not arguments.posonlyargs
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults + arguments.kw_defaults
    parameters = []
    for argument, default in zip([*arguments.args, *keywords], defaults, strict=True):
        if argument.arg != "self":
            value = "" if default is None else repr(ast.literal_eval(default)).replace("()", "[]")
            parameters.append((argument.arg, _type(argument.annotation), value, argument in keywords))
    return parameters, _type(function.returns)


def bound_signature(method: Any) -> Signature:
    """What nanobind says that it accepts. It calls default values \\0, \\1, ... and gives them beside."""
    text, _, defaults = method.__nb_signature__[-1]
    text = re.sub(r"\\(\d+)", lambda number: repr(defaults[int(number[1])]), text)
    parsed = ast.parse(f"{text.replace('mazurka._native.', '').replace('collections.abc.', '')}: ...").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    return stub_signature(parsed)


def _type(annotation: ast.expr | None) -> str:
    assert annotation is not None
    text = ast.unparse(annotation)
    while text != (text := re.sub(r"\b_[A-Z]\w+\b", lambda name: ALIASES[name[0]], text)):
        pass
    # Of tuples whose shape depends on their contents, the binding says only that they are in a list.
    return re.sub(r"^list\[.*Any.*\]$", "list", text)


FUNCTIONS = {
    f"{owner}.{node.name}".lstrip("."): (owner, node)
    for owner, body in [("", STUB.body), *((one.name, one.body) for one in STUB.body if isinstance(one, ast.ClassDef))]
    for node in body
    if isinstance(node, ast.FunctionDef)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_binding_accepts_what_the_stub_says(name: str) -> None:
    owner, node = FUNCTIONS[name]
    bound = getattr(getattr(_native, owner) if owner else _native, node.name)
    assert bound_signature(bound) == stub_signature(node)


def members(body: list[ast.stmt]) -> set[str]:
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return defined | {ast.unparse(node.target) for node in body if isinstance(node, ast.AnnAssign)}


def test_the_stub_has_all_that_the_binding_has() -> None:
    def public(thing: Any) -> set[str]:
        return {name for name in vars(thing) if not name.startswith("_")}

    assert public(_native) == members(STUB.body)
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            assert public(getattr(_native, node.name)) == members(node.body) - {"__init__"}, node.name


def words(vocabulary: str) -> set[str]:
    found = _native.VOCABULARIES[vocabulary]
    assert len(set(found)) == len(found)
    return set(found)


@pytest.mark.parametrize(
    ("literal", "vocabulary", "only_native"),
    [
        (ins.UpdateOp, "UpdateOp", set()),
        (ins.Ordering, "Ordering", {"lifetime"}),
        (ins.AssumeOrigin, "Origin", set()),
        (ins.ClaimKind, "ClaimKind", set()),
        (ins.FailureKind, "BugKind", {"exit"}),
    ],
)
def test_a_literal_is_its_vocabulary(literal: Any, vocabulary: str, only_native: set[str]) -> None:
    assert set(get_args(literal)) == words(vocabulary) - only_native


def test_operations_are_instructions_of_the_machine() -> None:
    for literal in (ins.BinaryOp, ins.Predicate, ins.UnaryOp):
        assert set(get_args(literal)) <= words("Op")
    assert set(get_args(ins.ConvertOp)) <= words("Op") | {"zext", "bitcast"}  # these two are moves
    assert set(get_args(ins.FailureKind)) <= words("Fault")


def test_faults_that_are_explained_are_the_machines() -> None:
    assert words("Fault") >= set(faults.PLAIN)


def test_an_unknown_word_is_refused() -> None:
    program = ProgramBuilder()
    with program.function("main") as f:
        f.ret()
    code = lower(program.build()).code
    known = "'cpc' 'cycle-detection' 'unsound' 'none'"
    with pytest.raises(ValueError, match=f"^'fast' is none of {known}$"):
        _native.StateSearch(code, reduction="fast")
    with pytest.raises(TypeError):
        _native.StateSearch(code, reduction=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^no such instruction$"):
        _native.Code(b"\xff" * 32, [], [], [], [], [], 0)


def test_objects_and_their_addresses() -> None:
    for owner in (0, 1, layout.MAX_THREADS):
        for number in (0, 1, 77):
            address = layout.address_of(owner, number)
            assert address < 1 << layout.ADDRESS_BITS
            for offset in (0, 1, -1, layout.MAX_OBJECT_SIZE, -layout.MAX_OBJECT_SIZE):
                assert layout.base_of(address + offset) == address % 2**64
