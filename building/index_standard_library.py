"""Writes the index of the C++ standard library for the compiler that is installed: which source file defines what."""

from __future__ import annotations

from pathlib import Path

from mazurka.frontends.c.archive import Archive, source_digest
from mazurka.frontends.c.compiler import bundled_compiler

INDEX = Path(__file__).parent.parent / "src/mazurka/frontends/c/libcxx.index"


def main() -> None:
    compiler = bundled_compiler()
    assert compiler.headers is not None
    INDEX.write_text(f"{source_digest(compiler.headers)}\n{Archive(compiler).make_index()}")


if __name__ == "__main__":
    main()
