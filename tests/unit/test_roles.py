"""The table of roles fits the models of the library, and the runtime of native programs."""

from __future__ import annotations

import re
from importlib.resources import files

from mazurka.frontends.c.compiler import bundled_compiler, library_texts
from mazurka.frontends.c.llvm.module import Module
from mazurka.frontends.c.roles import OPAQUE_TYPES, ROLES, THREAD_TYPES

MODULES = {name: Module(text, name, library="mazurka") for name, text in library_texts(bundled_compiler()).items()}
PUBLIC = {
    definition.name
    for module in MODULES.values()
    for definition in module.symbols.values()
    if definition.kind != "variable" and definition.defined and not definition.local
}
# They have instructions of their own instead of a model.
WITHOUT_MODEL = {"__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"}


def calls() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Of each function, with its file, those that it calls."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for file, module in MODULES.items():
        for caller in module.symbols.values():
            if caller.kind == "function" and caller.defined:
                body = "\n".join(module.lines[caller.start + 1 :]).partition("\n}\n")[0]
                names = set(re.findall(r"call .*@(\w+)\(", body))
                found[file, caller.name] = {
                    (file if name in module.symbols and module.symbols[name].local else "", name) for name in names
                }
    return found


def test_what_has_a_role_has_a_model() -> None:
    assert ROLES.keys() - WITHOUT_MODEL <= PUBLIC


def test_what_claims_a_lock_or_waits_has_a_role() -> None:
    reaching = {("", "__mazurka_claim"), ("", "__mazurka_await")}
    size = 0
    while size < len(reaching):
        size = len(reaching)
        for (file, name), called in calls().items():
            # (Files wait on their own, also natively: pipes do. Nobody has to know it of all that prints.)
            if called & reaching and name not in ("__mazurka_read", "__mazurka_write"):
                reaching |= {(file, name), *([("", name)] if name in PUBLIC else [])}
    waiting = {name for file, name in reaching if not file and not name.startswith("__mazurka_")}
    assert {"pthread_mutex_lock", "mtx_timedlock", "pthread_rwlock_trywrlock", "sem_wait"} <= waiting
    assert waiting <= ROLES.keys()


def test_the_types_of_things_are_known_to_the_models() -> None:
    names = {
        found[1]
        for module in MODULES.values()
        for node in module.metadata.values()
        if (found := re.search(r'DW_TAG_typedef, name: "(\w+)"', node))
    }
    of_cpp = {name for name in OPAQUE_TYPES | THREAD_TYPES if name.startswith("__libcpp_")}
    assert names >= (OPAQUE_TYPES | THREAD_TYPES) - of_cpp
    headers = bundled_compiler().headers
    assert headers is not None
    threads = (headers / "libcxx/include/__thread/support/pthread.h").read_text()
    assert set(re.findall(r"\b(?:typedef \w+|using) (__libcpp_\w+)", threads)) >= of_cpp


def test_the_runtime_has_what_is_scheduled() -> None:
    source = (files("mazurka.constrained.enforce") / "runtime" / "operations.c").read_text()
    own = set(re.findall(r"^OPERATION\((\w+)", source, re.MULTILINE))
    own |= set(re.findall(r"^\w.*\bmazurka_do_(\w+)\(", source, re.MULTILINE))
    assert own == {name for name, role in ROLES.items() if role.scheduled}
