"""Schedules in files: what is wrong with those that cannot be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule, Step, Transformations


def test_a_schedule_survives_a_file(tmp_path: Path) -> None:
    schedule = Schedule(("main", "main.1"), (Step("main"), Step("main.1", (2, 0)), Step("main")), race=(1, 3))
    schedule = replace(schedule, transforms=Transformations(purity=False, unroll=4), pause_after=10_000)
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(schedule.to_json()))
    assert Schedule.load(path) == schedule


def test_a_schedule_without_pauses_need_not_say_so() -> None:
    schedule = Schedule(("main",), (Step("main"),))
    data = schedule.to_json()
    del data["pause_after"]
    assert Schedule.from_json(data) == schedule


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
        (b'{"format": 1}', "schedule format 1, but this version reads format 2"),
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
