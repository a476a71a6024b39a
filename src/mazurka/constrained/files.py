"""Schedules as JSON files: all that the checker needs to prove one again, and what people want to know of it.

A file speaks of threads, locations, transitions and variables of the model by number or name; a digest of the model
tells whether it is the right one. Terms are written as S-expressions (`model.terms`).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from mazurka.constrained.model import Location, Model, SharedAccess, Transition
from mazurka.constrained.model.terms import parse, render
from mazurka.constrained.plan import Event, ProgramSchedule, SectionSchedule
from mazurka.constrained.proof import Edge, Proof, ProofNode
from mazurka.errors import InputError
from mazurka.jsonfiles import read_json

FORMAT: Final = 2

_NUMBER: Final = {"type": "integer", "minimum": 0}
_NUMBERS: Final = {"type": "array", "items": _NUMBER}
_PAIR: Final = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
_TEXT: Final = {"type": "string"}
_VALUES: Final = {"type": "object", "additionalProperties": _NUMBER}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


_NODE: Final = _object({
    "locations": _NUMBERS, "explicit": _VALUES, "label": _list(_TEXT), "edges": _list(_PAIR),
    "covered_by": {"type": ["integer", "null"], "minimum": 0},
})  # fmt: skip
_EVENT: Final = _object({
    "transition": _NUMBER, "node": _NUMBER, "values": _VALUES,
    "indices": _list({"type": ["integer", "null"], "minimum": 0}),
})  # fmt: skip
_TRANSITION: Final = _object({
    "thread": _NUMBER, "what": _TEXT, "file": {"type": ["string", "null"]}, "line": {"type": ["integer", "null"]},
})  # fmt: skip
_PROGRAM: Final = _object({
    "digest": _TEXT,
    "arguments": {"type": ["array", "null"], "items": _TEXT},
    "threads": _list(_object({"name": _TEXT, "display": _TEXT})),
})  # fmt: skip

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A program schedule of Mazurka",
    **_object({
        "format": {"const": FORMAT, "description": "The version of this format."},
        "program": _described(
            _PROGRAM,
            "The program: a digest of its transitions, the arguments that it is started with (null: it does not look "
            "at them), and its threads by number.",
        ),
        "transitions": _described(
            {"type": "object", "additionalProperties": _TRANSITION},
            "In words, the transitions that the schedule has, by their number.",
        ),
        "nodes": _described(
            _list(_NODE),
            "The proof: at each node the location of each thread, what is known of the states, the transitions of "
            "threads that may run with the nodes that they lead to, or the node that stands in.",
        ),
        "starts": _described(_NUMBERS, "The nodes at which sections begin and end."),
        "sections": _described(
            _list(_object({"start": _NUMBER, "events": _list(_EVENT), "order": _list(_PAIR), "end": _NUMBER})),
            "Each section: the node at which it begins, its events, pairs of events of which the first comes before "
            "the second, the node at which it ends.",
        ),
    }),
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------ writing


def to_json(schedule: ProgramSchedule) -> dict[str, Any]:
    model = schedule.proof.model
    used = {event.transition for section in schedule.sections for event in section.events}
    return {
        "format": FORMAT,
        "program": {
            "digest": digest(model),
            "arguments": _arguments(model),
            "threads": [{"name": thread.name, "display": thread.display} for thread in model.threads],
        },
        "transitions": {
            str(transition.number): _in_words(transition)
            for transition in sorted(used, key=lambda transition: transition.number)
        },
        "nodes": [
            {
                "locations": [location.number for location in node.locations],
                "explicit": dict(node.explicit),
                "label": [render(fact) for fact in node.label],
                "edges": [[edge.transition.number, edge.target] for edge in node.edges],
                "covered_by": node.covered_by,
            }
            for node in schedule.proof.nodes
        ],
        "starts": list(schedule.nodes),
        "sections": [
            {
                "start": section.start,
                "events": [
                    {
                        "transition": event.transition.number,
                        "node": event.node,
                        "values": {variable.name: value for variable, value in event.values.items()},
                        "indices": list(event.indices),
                    }
                    for event in section.events
                ],
                "order": [list(pair) for pair in section.order],
                "end": section.end,
            }
            for section in schedule.sections
        ],
    }


def _arguments(model: Model) -> list[str] | None:
    """Without the name of the program."""
    return None if model.arguments is None else list(model.arguments[1:])


def _in_words(transition: Transition) -> dict[str, Any]:
    point = transition.source.point
    source = point.source if point else None
    return {
        "thread": transition.thread,
        "what": point.what if point else "",
        "file": source.file if source else None,
        "line": source.line if source else None,
    }


def digest(model: Model) -> str:
    """What tells a model from others: all that proofs of it speak of. Where things are in the source is no part."""
    parts: list[object] = []
    for variable in model.variables.values():
        shape = (variable.term.width, variable.term.length)
        parts.append([variable.name, shape, variable.initial, variable.thread, variable.explicit])
    for thread in model.threads:
        parts.append([thread.name, thread.entry.number])
        parts += [_place(location) for location in thread.locations]
    for transition in model.transitions:
        parts.append(
            [
                [transition.number, transition.thread, transition.source.number, transition.target.number],
                render(transition.condition),
                sorted([variable.name, render(value)] for variable, value in transition.assigns.items()),
                [[render(entry.term), render(entry.count)] for entry in transition.inputs],
                [_access(access) for access in (*transition.accesses, *transition.ghosts)],
                [transition.starts, transition.silent, transition.back],
                transition.failure.kind if transition.failure else None,
            ]
        )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _place(location: Location) -> list[object]:
    holder = render(location.holder) if location.holder else None
    guard = [render(location.enabled), location.waits, render(location.awaits), holder]
    return [location.number, *guard, location.rest, [transition.number for transition in location.transitions]]


def _access(access: SharedAccess) -> list[object]:
    return [access.variable.name, render(access.index) if access.index else None, access.reads, access.writes]


# ------------------------------------------------------------------------------------------------------ reading


def load(path: Path, model: Model) -> ProgramSchedule:
    """Read a schedule of this program. It may still be wrong: see `checker`."""
    return from_json(read_json(path), model, str(path))


def arguments_in(path: Path) -> list[str] | None:
    """The arguments that a program is started with that has the schedule in a file, if it looks at them."""
    data = read_json(path)
    program = data.get("program") if isinstance(data, dict) else None
    arguments = program.get("arguments") if isinstance(program, dict) else None
    is_list = isinstance(arguments, list) and all(isinstance(argument, str) for argument in arguments)
    return arguments if is_list else None  # whatever else is wrong is said by `load`


def from_json(data: Any, model: Model, origin: str = "schedule") -> ProgramSchedule:
    """Read what `to_json` gave. An `InputError` says what of it does not fit the format or the program."""
    if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise InputError(f"{origin}: schedule format {data['format']}, but this version reads format {FORMAT}")
    problem = _mismatch(data, SCHEMA, "")
    if problem:
        raise InputError(f"{origin}: not a schedule as `mazurka schedule` writes it: {problem}")
    if data["program"]["arguments"] != _arguments(model):
        raise InputError(
            f"{origin}: a schedule for other arguments of the program; make a new one with `mazurka schedule`"
        )
    if data["program"]["digest"] != digest(model):
        raise InputError(
            f"{origin}: a schedule of another program, or of this one before it was changed or with other options; "
            "make a new one with `mazurka schedule`"
        )
    return _FileReader(data, model, origin).schedule()


class _FileReader:
    """From data of the right shape, for the right program. What it names may still not exist."""

    def __init__(self, data: Any, model: Model, origin: str) -> None:
        self._data = data
        self._model = model
        self._origin = origin
        self._terms = {variable.name: variable.term for variable in model.variables.values()}
        self._transitions = {transition.number: transition for transition in model.transitions}
        self._locations = [{location.number: location for location in thread.locations} for thread in model.threads]

    def schedule(self) -> ProgramSchedule:
        nodes = tuple(self._node(number, node) for number, node in enumerate(self._data["nodes"]))
        sections = tuple(self._section(number, section) for number, section in enumerate(self._data["sections"]))
        return ProgramSchedule(Proof(self._model, nodes), tuple(self._data["starts"]), sections)

    def _wrong(self, where: str, problem: str) -> InputError:
        return InputError(f"{self._origin}: {where}: {problem}")

    def _node(self, number: int, data: Any) -> ProofNode:
        where = f"node {number}"
        if len(data["locations"]) != len(self._locations):
            raise self._wrong(where, f"{len(data['locations'])} locations for {len(self._locations)} threads")
        label = []
        for text in data["label"]:
            try:
                label.append(parse(text, self._terms))
            except ValueError as error:
                raise self._wrong(where, f'"{text}" is no condition: {error}') from None
            except RecursionError:
                raise self._wrong(where, "a condition nests too deeply") from None
        return ProofNode(
            number,
            tuple(self._location(where, thread, at) for thread, at in enumerate(data["locations"])),
            tuple(data["explicit"].items()),
            tuple(label),
            tuple(Edge(self._transition(where, transition), target) for transition, target in data["edges"]),
            data["covered_by"],
        )

    def _section(self, number: int, data: Any) -> SectionSchedule:
        where = f"section {number}"
        if not data["events"]:
            raise self._wrong(where, "it has no events")
        events = []
        for event in data["events"]:
            transition = self._transition(where, event["transition"])
            values = {}
            for name, value in event["values"].items():
                if name not in self._model.variables:
                    raise self._wrong(where, f"no variable is called '{name}'")
                values[self._model.variables[name]] = value
            events.append(Event(transition.thread, transition, event["node"], values, tuple(event["indices"])))
        order = tuple((first, second) for first, second in data["order"])
        first = events[0]
        return SectionSchedule(data["start"], first.thread, first.transition, tuple(events), order, data["end"])

    def _transition(self, where: str, number: int) -> Transition:
        if number not in self._transitions:
            raise self._wrong(where, f"the program has no transition {number}")
        return self._transitions[number]

    def _location(self, where: str, thread: int, number: int) -> Location:
        if number not in self._locations[thread]:
            raise self._wrong(where, f"thread {self._model.threads[thread].display} has no location {number}")
        return self._locations[thread][number]


_TYPES: Final = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}


def _mismatch(value: Any, schema: dict[str, Any], where: str) -> str | None:
    """How a value does not fit a schema, for the part of JSON Schema that `SCHEMA` uses."""
    at = where or "the file"
    if "const" in schema:
        return None if value == schema["const"] else f"{at} is not {schema['const']}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(value, bool) or not any(isinstance(value, _TYPES[name]) for name in types):
        return f"{at} is not of type {' or '.join(types)}"
    if isinstance(value, int) and value < schema.get("minimum", value):
        return f"{at} is less than {schema['minimum']}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", ()):
            if key not in value:
                return f'{at} has no "{key}"'
        for key, entry in value.items():
            inner = properties.get(key, schema["additionalProperties"])
            if inner is False:
                return f'{at} has "{key}", which is not part of the format'
            problem = _mismatch(entry, inner, f"{where}.{key}" if where else key)
            if problem:
                return problem
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"{at} does not have {schema['minItems']} entries"
        for number, entry in enumerate(value):
            problem = _mismatch(entry, schema["items"], f"{where}[{number}]")
            if problem:
                return problem
    return None
