"""Schedules in files: what is wrong with those that cannot be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka.errors import InputError
from mazurka.executions.schedule import Reading, Schedule, Step, Transformations


def test_a_schedule_survives_a_file(tmp_path: Path) -> None:
    schedule = Schedule(("main", "main.1"), (Step("main"), Step("main.1", (2, 0)), Step("main")), race=(1, 3))
    schedule = replace(schedule, transforms=Transformations(purity=False, unroll=4), pause_after=10_000)
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(schedule.to_json()))
    assert Schedule.load(path) == schedule


def test_what_steps_read_survives_a_file(tmp_path: Path) -> None:
    reads = (Reading(1 << 40, 4, 7, 0, 0), Reading((1 << 40) + 4, 4, 0, 0xFFFFFFFF, -1))
    schedule = Schedule(("main",), (Step("main"), Step("main", (1,), reads)), memory="tso")
    schedule = replace(schedule, transforms=Transformations(memory="weak"))
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(schedule.to_json()))
    assert Schedule.load(path) == schedule
    assert not schedule.is_interleaving


def test_older_files_are_read() -> None:
    """Before format 3, there was nothing but interleavings."""
    schedule = Schedule(("main",), (Step("main"), Step("main", (1,))))
    data = {**schedule.to_json(), "format": 2}
    del data["memory"], data["transforms"]["memory"]
    assert Schedule.from_json(data) == schedule


def test_a_schedule_without_pauses_need_not_say_so() -> None:
    schedule = Schedule(("main",), (Step("main"),))
    data = schedule.to_json()
    del data["pause_after"]
    assert Schedule.from_json(data) == schedule


def reading(step: bytes, version: int = 3) -> bytes:
    return b'{"format": %d, "threads": [], "steps": [{"thread": %s}]}' % (version, step)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{\x9f\xff}", "not JSON: it is not text"),
        (b"\x7fELF", "not JSON: Expecting value"),
        (b"[" * 100_000, "not JSON: it nests too deeply"),
        (b"[]", "it is not a JSON object"),
        (b"{}", '"format" is missing'),
        (b'{"format": 2, "steps": []}', '"threads" is missing'),
        (b'{"format": 2, "threads": []}', '"steps" is missing'),
        (b'{"format": 1}', "schedule format 1, but this version reads formats 2 and 3"),
        (b'{"format": 2, "threads": [1], "steps": []}', '"threads" is not a list of names'),
        (b'{"format": 2, "threads": [], "steps": {}}', '"steps" is not a list'),
        (b'{"format": 2, "threads": [], "steps": [["main"], "main"]}', "step 2 is not the name of a thread and its"),
        (b'{"format": 2, "threads": [], "steps": [[]]}', "step 1 is not the name of a thread and its choices"),
        (b'{"format": 2, "threads": [], "steps": [["main", 1.5]]}', "step 1 is not"),
        (b'{"format": 2, "threads": [], "steps": [["main", 1e999]]}', "step 1 is not"),
        (b'{"format": 2, "threads": [], "steps": [["main", 99999999999]]}', "step 1 is not"),
        (
            b'{"format": 2, "threads": [], "steps": [["main"]], "race": [1, 2]}',
            '"race" is not the numbers of two steps',
        ),
        (b'{"format": 2, "threads": [], "steps": [], "race": true}', '"race" is not the numbers of two steps'),
        (b'{"format": 2, "threads": [], "steps": []}', '"transforms" does not say what was done to the program'),
        (
            b'{"format": 2, "threads": [], "steps": [], "transforms": {"purity": true, "awaits": true, "unroll": 0}}',
            '"transforms" does not say what was done to the program',
        ),
        (
            b'{"format": 2, "threads": [], "steps": [], "transforms": {"purity": true, "awaits": true, "unroll": null},'
            b' "pause_after": true}',
            '"pause_after" is not a number of instructions',
        ),
        (
            b'{"format": 3, "threads": [], "steps": [], "transforms": {"purity": true, "awaits": true, "unroll": null},'
            b' "memory": "arm"}',
            '"memory" is none of sc, tso, pso, ra, c11',
        ),
        (
            b'{"format": 3, "threads": [], "steps": [], "transforms": {"purity": true, "awaits": true, "unroll": null, '
            b'"memory": "tso"}}',
            '"transforms" does not say what was done to the program',
        ),
        (reading(b'"main", "choices": [], "reads": []', version=2), "step 1 is not the name of a thread"),
        (reading(b'"main", "reads": []'), 'step 1 has something else than "thread", "choices" and "reads"'),
        (reading(b'"main", "choices": 1, "reads": []'), "step 1 is not the name of a thread and its choices"),
        (reading(b'1, "choices": [], "reads": []'), "step 1 is not the name of a thread and its choices"),
        (reading(b'"main", "choices": [], "reads": [[1, 4, 0, 0]]'), "what step 1 reads is not a list of addresses"),
        (reading(b'"main", "choices": [], "reads": [[1, 4, 0, 0, 0]]'), "positions of earlier steps"),
        (reading(b'"main", "choices": [], "reads": [[1, 9, 0, 0, -1]]'), "sizes of up to 8 bytes"),
        (reading(b'"main", "choices": [], "reads": [[1, 1, 256, 0, -1]]'), "what step 1 reads is not"),
        (reading(b'"main", "choices": [], "reads": [[-1, 1, 0, 0, -1]]'), "what step 1 reads is not"),
        (b'{"verdict": "ok", "schedule": null}', "a result without a schedule: it shows no bug"),
    ],
)
def test_what_is_wrong_with_a_schedule(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Schedule.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
    assert "Error" not in str(caught.value)
