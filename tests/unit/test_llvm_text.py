"""Reading and changing LLVM text."""

from __future__ import annotations

import pytest

from mazurka.constrained.enforce.code import read_code, same_instructions
from mazurka.constrained.model import Model
from mazurka.frontends.c.compiler import bundled_compiler, library_texts
from mazurka.frontends.c.llvm.editor import Editor
from mazurka.frontends.c.llvm.instruction import ACCESSES, LLVMInstruction
from mazurka.frontends.c.llvm.module import Module
from mazurka.frontends.c.llvm.syntax import LLVMType, Structure

TEXT = """\
%struct.pair = type { i32, ptr }
@pair = global %struct.pair zeroinitializer, align 8
@shared = global i32 0, align 4
@main.text = private constant [6 x i8] c"@main\\00"

declare noundef i32 @puts(ptr noundef) #1

define i32 @main() #0 {
  %p = load ptr, ptr getelementptr inbounds (%struct.pair, ptr @pair, i32 0, i32 1), align 8, !dbg !7
  store i32 1, ptr %p, align 4
  %field = getelementptr inbounds %struct.pair, ptr @pair, i32 0, i32 0
  store i32 1, ptr %field, align 4
  %old = atomicrmw xchg ptr %p, i64 ptrtoint (ptr @shared to i64) seq_cst, align 8
  %said = call i32 @puts(ptr noundef @main.text), !dbg !8
  %again = call i32 @main()
  ret i32 0
}

attributes #0 = { noinline nounwind optnone "frame-pointer"="all" }
attributes #1 = { "no-trapping-math"="true" }
"""


def instruction(text: str) -> LLVMInstruction:
    def named(name: str) -> LLVMType:
        return Structure(())

    return LLVMInstruction(1, f"  {text}", named)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("%x = load i32, ptr %a, align 4, !dbg !3", "%a"),
        ("%x = load atomic volatile i32, ptr @a seq_cst, align 4", "@a"),
        ("store ptr @f, ptr %p, align 8", "%p"),
        ("store { i32, ptr } %v, ptr getelementptr (i8, ptr @a, i64 8), align 8", "getelementptr (i8, ptr @a, i64 8)"),
        ('store i32 1, ptr %"a, b", align 4', '%"a, b"'),
        ("%x = atomicrmw volatile add ptr %a, i32 1 seq_cst, align 4", "%a"),
        ("%x = cmpxchg weak ptr @a, ptr null, ptr @b seq_cst monotonic, align 8", "@a"),
    ],
)
def test_the_address_of_an_access(text: str, address: str) -> None:
    access = instruction(text)
    assert access.address_text == address
    assert access.with_address("%new") == access.text.replace(f"ptr {address}", "ptr %new")


@pytest.mark.parametrize(
    ("text", "callee", "changed"),
    [
        ("call void @f()", "f", "call void @g(i32 1)"),
        ("%x = tail call i32 (ptr, ...) @f(ptr @t) #2", "f", "%x = tail call i32 (ptr, ...) @g(i32 1, ptr @t) #2"),
        ("%x = call %struct.s %p(i32 0)", "", "%x = call %struct.s @g(i32 1, i32 0)"),
        ('call void @"f g"(ptr @h)', "f g", "call void @g(i32 1, ptr @h)"),
    ],
)  # fmt: skip
def test_what_a_call_calls(text: str, callee: str, changed: str) -> None:
    call = instruction(text)
    assert call.callee == callee
    assert call.with_callee("g", "i32 1") == f"  {changed}"


def test_what_is_changed_to_what_it_was_stays_the_same() -> None:
    """In all of the library."""
    for name, text in library_texts(bundled_compiler()).items():
        module = Module(text, name)
        editor = Editor(module)
        for _, each in module.instructions():
            assert each.text.startswith(module.lines[each.line - 1])
            if each.opcode in ACCESSES:
                editor.replace(each, each.with_address(each.address_text))
            elif each.callee:
                editor.replace(each, each.with_callee(each.callee))
        assert editor.text() == text


def test_what_is_put_in_comes_from_the_same_place() -> None:
    module = Module(TEXT, "text.ll")
    editor = Editor(module)
    load, *_, call, again, _ = (each for _, each in module.instructions())
    editor.before(load, "call void @first()")
    editor.replace(load, "  %p = load ptr, ptr @q")
    editor.before(load, "call void @second()")
    editor.after(load, "call void @third()")
    editor.after(call, "call void @fourth()")
    editor.after(again, "call void @fifth()")
    editor.append("declare i32 @puts(ptr)", "declare void @first()")
    lines = editor.text().split("\n")
    start = lines.index("  call void @first(), !dbg !7")
    assert lines[start + 1 : start + 4] == [
        "  call void @second(), !dbg !7",
        "  %p = load ptr, ptr @q",
        "  call void @third(), !dbg !7",
    ]
    assert "  call void @fourth(), !dbg !8" in lines
    assert "  call void @fifth()" in lines
    assert lines[-1] == "declare void @first()"
    assert "declare i32 @puts(ptr)" not in lines


def test_names_and_attributes() -> None:
    editor = Editor(Module(TEXT, "text.ll"))
    editor.rename("main", "program")
    editor.drop_attributes("noinline", "optnone")
    lines = editor.text().split("\n")
    assert "define i32 @program() #0 {" in lines
    assert "  %again = call i32 @program()" in lines
    assert '@main.text = private constant [6 x i8] c"@main\\00"' in lines
    assert 'attributes #0 = { nounwind "frame-pointer"="all" }' in lines
    assert Module(TEXT, "text.ll").signature("puts") == ("i32", "ptr noundef")


def test_a_pointer_that_is_read_from_a_variable_need_not_point_to_it() -> None:
    module = Module(TEXT, "text.ll")
    code = read_code({"text.ll": module}, {"text.ll": same_instructions(module, module)}, Model())
    accesses = [each for _, each in module.instructions() if each.opcode in ACCESSES]
    certain = [each.address_text for each in accesses if ("text.ll", each.line) in code.certain]
    assert certain == ["getelementptr inbounds (%struct.pair, ptr @pair, i32 0, i32 1)", "%field"]
