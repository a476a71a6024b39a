"""A program schedule for people: in words, as a picture (SVG), and for Graphviz.

The picture has a band for each node of the schedule: where the threads are, and below that the sections that begin
there. In a section, each thread has a column; events that nothing orders stand beside each other, arrows show which of
two threads waits for the other. The foot of a section says where executions go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from mazurka.constrained.model import Location, Model, Transition
from mazurka.constrained.plan import Event, ProgramSchedule, SectionSchedule

# In words, longer stories lose their middle.
_MOST_TURNS = 10
_MOST_SECTIONS = 12


# ------------------------------------------------------------------------------------------------------ in words


def describe(schedule: ProgramSchedule) -> list[str]:
    """What the schedule permits, a line for each section: whose turn it is, one after the other."""
    label = _labels(schedule)
    sections = sorted(schedule.sections, key=lambda section: label[section.start])
    lines = []
    for section in sections[:_MOST_SECTIONS]:
        start = f"{label[section.start]}: " if len(sections) > 1 else ""
        condition = _condition(schedule, section)
        lines.append(f"{start}{condition}{_turns(schedule, section)}{_continuation(schedule, section)}")
    left_out = len(sections) - len(lines)
    if left_out:
        lines.append(f"... and {left_out} more section{'s' if left_out > 1 else ''}")
    return lines


def thread_names(model: Model) -> list[str]:
    """How people call the threads; those that run the same function are numbered."""
    count = Counter(thread.display for thread in model.threads)
    met: Counter[str] = Counter()
    names = []
    for thread in model.threads:
        met[thread.display] += 1
        several = count[thread.display] > 1
        names.append(f"{thread.display} {met[thread.display]}" if several else thread.display)
    return names


def _labels(schedule: ProgramSchedule) -> dict[int, int]:
    """The schedule's nodes, counted from 1."""
    return {node: number for number, node in enumerate(schedule.nodes, 1)}


def _condition(schedule: ProgramSchedule, section: SectionSchedule) -> str:
    """When it is this section and not another one from the same node."""
    others = [other for other in schedule.sections_at(section.start) if other is not section]
    if not others:
        return ""
    name = thread_names(schedule.proof.model)[section.thread]
    if any(other.thread == section.thread for other in others):
        return f"if {name} {_ahead(section.transition)}: "
    return f"if {name} goes first: "


def _ahead(transition: Transition) -> str:
    """Where a thread goes by a transition."""
    target = transition.target
    if target.rest in ("end", "return"):
        return "ends"
    if target.rest == "exit":
        return "ends the program"
    if target.rest == "stuck":
        return "stops at an assumption"
    return f"goes on at {_where(target)}"


def _where(location: Location) -> str:
    source = location.point.source if location.point else None
    return f"line {source.line}" if source else f"location {location.number}"


def _turns(schedule: ProgramSchedule, section: SectionSchedule) -> str:
    names = thread_names(schedule.proof.model)
    turns: list[list[Event]] = []
    for event in section.events:
        if turns and turns[-1][0].thread == event.thread:
            turns[-1].append(event)
        else:
            turns.append([event])
    words = [names[turn[0].thread] + _lines(turn) for turn in turns]
    if len(words) > _MOST_TURNS:
        half = _MOST_TURNS // 2
        words[half:-half] = [f"{len(words) - 2 * half} more turns"]
    return ", then ".join(words)


def _lines(turn: Sequence[Event]) -> str:
    points = [event.transition.source.point for event in turn]
    lines = sorted({point.source.line for point in points if point and point.source})
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line - ranges[-1][-1] <= 2:
            ranges[-1].append(line)
        else:
            ranges.append([line])
    words = ", ".join(f"{each[0]}-{each[-1]}" if len(each) > 1 else str(each[0]) for each in ranges)
    return f" (line{'s' if len(lines) > 1 else ''} {words})" if lines else ""


def _continuation(schedule: ProgramSchedule, section: SectionSchedule) -> str:
    if section.end == section.start:
        return ", and again"
    if not schedule.sections_at(section.end):
        return ", and the program ends"
    return f"; then {_labels(schedule)[section.end]}"


# ---------------------------------------------------------------------------------------------------- for Graphviz


def to_dot(schedule: ProgramSchedule) -> str:
    names, label = thread_names(schedule.proof.model), _labels(schedule)
    lines = ["digraph schedule {", "  compound=true;", '  node [fontname="sans-serif", fontsize=11];']
    for node in schedule.nodes:
        lines.append(f'  n{node} [shape=circle, label="{label[node]}", tooltip={_quoted(_state(schedule, node))}];')
    for number, section in enumerate(schedule.sections):
        lines += [f"  subgraph cluster_{number} {{", "    style=rounded;"]
        for position, event in enumerate(section.events):
            text = _quoted(f"{names[event.thread]}: {_what(event)}")
            lines.append(f"    e{number}_{position} [shape=box, label={text}];")
        lines += [f"    e{number}_{first} -> e{number}_{second};" for first, second in section.order]
        lines.append("  }")
        lines.append(f"  n{section.start} -> e{number}_0 [lhead=cluster_{number}];")
        lines.append(f"  e{number}_{len(section.events) - 1} -> n{section.end} [ltail=cluster_{number}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _what(event: Event) -> str:
    """An event in words, with its line and the index of an array's element if that is known."""
    point = event.transition.source.point
    words = point.what if point and point.what else "computes" if event.transition.silent else "takes a step"
    indices = {index for index in event.indices if index is not None}
    if len(indices) == 1:
        words = words.replace("[]", f"[{indices.pop()}]")
    source = point.source if point else None
    return f"{source.line}: {words}" if source else words


def _state(schedule: ProgramSchedule, node: int) -> str:
    """Where the threads are."""
    model = schedule.proof.model
    places = []
    for name, thread, at in zip(thread_names(model), model.threads, schedule.proof.nodes[node].locations, strict=True):
        if at.rest in ("end", "return", "exit"):
            places.append(f"{name} has ended" if at.rest != "exit" else f"{name} has ended the program")
        elif at.rest == "stuck":
            places.append(f"{name} is stopped by an assumption")
        elif at.rest is None and at is thread.entry and not (at.point and at.point.source):
            places.append(f"{name} begins")
        elif at.rest is None:
            places.append(f"{name} at {_where(at)}")
    return ", ".join(places)


# --------------------------------------------------------------------------------------------------------- as SVG

_CHARACTER = 7.0  # the width of a character of the font of events
_ROW = 26
_GAP = 18
_HEAD = 34
_COLOURS = ("#4878a8", "#a85848", "#58884a", "#8a62a0", "#b08030", "#3f8f8f", "#a05080", "#707070")


def to_svg(schedule: ProgramSchedule) -> str:
    names, label = thread_names(schedule.proof.model), _labels(schedule)
    parts: list[str] = []
    y, width = _GAP, 400.0
    for node in schedule.nodes:
        state = _state(schedule, node)
        parts.append(f'<circle class="node" cx="{_GAP + 12}" cy="{y + 12}" r="12"/>')
        parts.append(f'<text class="number" x="{_GAP + 12}" y="{y + 16}">{label[node]}</text>')
        parts.append(f'<text x="{_GAP + 34}" y="{y + 16}">{escape(state)}</text>')
        width = max(width, _GAP + 34 + _CHARACTER * len(state))
        y += _HEAD
        x, bottom = float(_GAP + 34), y
        for section in schedule.sections_at(node):
            box = _SectionBox(schedule, section, names)
            parts += box.draw(x, y)
            x += box.width + _GAP
            bottom = max(bottom, y + box.height)
        if schedule.sections_at(node):
            parts.append(f'<path class="order" d="M{_GAP + 12},{y - 10} V{y + 14} H{_GAP + 32}"/>')
        width = max(width, x)
        y = bottom + _GAP
    size = f'width="{width + _GAP:.0f}" height="{y:.0f}" viewBox="0 0 {width + _GAP:.0f} {y:.0f}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', _STYLE, *parts, "</svg>"]) + "\n"


_STYLE = """<style>
text { font: 12px sans-serif; fill: #222; }
.event { font: 11px monospace; }
.thread { font-weight: bold; }
.number { fill: white; text-anchor: middle; font-weight: bold; }
.node { fill: #444; }
.section { fill: #fafafa; stroke: #999; }
.order { fill: none; stroke: #777; marker-end: url(#arrow); }
.own { fill: none; stroke: #ccc; }
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="#777"/></marker></defs>
<rect width="100%" height="100%" fill="white"/>"""


class _SectionBox:
    """A section: a column for each thread, a row for each rank in the order."""

    def __init__(self, schedule: ProgramSchedule, section: SectionSchedule, names: Sequence[str]) -> None:
        self._section = section
        self._names = names
        self._head = _condition(schedule, section).rstrip(": ")
        self._foot = _continuation(schedule, section).lstrip(",; ")
        self._texts = [_what(event) for event in section.events]
        self._rows = [0] * len(section.events)
        for first, second in sorted(section.order, key=lambda pair: pair[1]):
            self._rows[second] = max(self._rows[second], self._rows[first] + 1)
        self._threads = sorted({event.thread for event in section.events})
        widths = []
        for thread in self._threads:
            own = [text for text, event in zip(self._texts, section.events, strict=True) if event.thread == thread]
            widths.append(_CHARACTER * max(len(text) for text in [*own, names[thread]]) + 12)
        self._columns = {
            thread: (_GAP + sum(widths[:place]) + place * 2 * _GAP, widths[place])
            for place, thread in enumerate(self._threads)
        }
        columns = sum(widths) + (len(widths) - 1) * 2 * _GAP
        self.width = 2 * _GAP + max(columns, _CHARACTER * max(len(self._head), len(self._foot)))
        self._top = 44 if self._head else 22  # of the first row
        self.height = self._top + 8 + _ROW * (max(self._rows) + 1) + 24

    def draw(self, x: float, y: float) -> list[str]:
        parts = [f'<rect class="section" x="{x}" y="{y}" width="{self.width:.0f}" height="{self.height:.0f}" rx="6"/>']
        if self._head:
            parts.append(f'<text x="{x + _GAP}" y="{y + 18}">{escape(self._head)}</text>')
        for thread, (left, _) in self._columns.items():
            head = f'class="thread" x="{x + left + 6:.0f}" y="{y + self._top - 4}" style="fill:{_colour(thread)}"'
            parts.append(f"<text {head}>{escape(self._names[thread])}</text>")
        parts += [self._arrow(x, y, first, second) for first, second in self._section.order]
        for number, event in enumerate(self._section.events):
            left, width = self._columns[event.thread]
            top = self._y(y, number)
            place = f'x="{x + left:.0f}" y="{top}" width="{width:.0f}" height="{_ROW - 8}" rx="3"'
            parts.append(f'<rect {place} fill="white" stroke="{_colour(event.thread)}"/>')
            text = escape(self._texts[number])
            parts.append(f'<text class="event" x="{x + left + 6:.0f}" y="{top + 13}">{text}</text>')
        parts.append(f'<text x="{x + _GAP}" y="{y + self.height - 9:.0f}">{escape(self._foot)}</text>')
        return parts

    def _y(self, y: float, number: int) -> float:
        return y + self._top + 4 + _ROW * self._rows[number]

    def _arrow(self, x: float, y: float, first: int, second: int) -> str:
        """Down the column for the same thread, otherwise from side to side."""
        events = self._section.events
        (left, width), (other, other_width) = self._columns[events[first].thread], self._columns[events[second].thread]
        middle = (_ROW - 8) / 2
        from_y, to_y = self._y(y, first) + middle, self._y(y, second) + middle
        if left == other:
            return f'<path class="own" d="M{x + left + 10:.0f},{from_y} V{to_y}"/>'
        from_x, to_x = (left + width, other) if left < other else (left, other + other_width)
        bend = _GAP if left < other else -_GAP
        curve = f"C{x + from_x + bend:.0f},{from_y} {x + to_x - bend:.0f},{to_y} {x + to_x:.0f},{to_y}"
        return f'<path class="order" d="M{x + from_x:.0f},{from_y} {curve}"/>'


def _colour(thread: int) -> str:
    return _COLOURS[thread % len(_COLOURS)]
