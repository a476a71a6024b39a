"""Verdicts as JUnit XML, which build servers show. A bug is a failure; what is not verified for another reason is an
error; what was not checked at all was skipped."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

from mazurka.reports import text
from mazurka.reports.tests import verdict
from mazurka.result import Result, Verdict
from mazurka.testcases.outcome import Outcome, Outcomes

# What XML has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTH = 100


def to_xml(checked: Outcomes) -> str:
    total = len(checked.outcomes) + len(checked.left)
    counts = {
        "tests": str(total),
        "failures": str(checked.count("bug")),
        "errors": str(checked.count("incomplete") + checked.count("error")),
        "skipped": str(len(checked.left)),
        "time": f"{checked.seconds:.3f}",
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": f"mazurka ({checked.framework})", **counts})
    for outcome in checked.outcomes:
        _add(suite, outcome, checked.framework)
    for name in checked.left:
        case = ElementTree.SubElement(suite, "testcase", {"name": _plain(name), "classname": checked.framework})
        ElementTree.SubElement(case, "skipped", {"message": "interrupted before it was checked"})
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add(suite: ElementTree.Element, outcome: Outcome, framework: str) -> None:
    attributes = {"name": _plain(outcome.name), "classname": framework, "time": f"{outcome.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    result = outcome.result
    if not isinstance(result, Result):
        error = ElementTree.SubElement(case, "error", {"type": "error", "message": _plain(result.splitlines()[0])})
        error.text = _plain(result)
        return
    written = io.StringIO()
    text.write(result, written, color="never", width=_WIDTH)
    if result.verdict is Verdict.OK:
        ElementTree.SubElement(case, "system-out").text = _plain(written.getvalue())
        return
    kind = result.bug.kind if result.bug is not None else "incomplete"
    what = ElementTree.SubElement(case, "failure" if result.bug is not None else "error", {"type": kind})
    what.set("message", _plain(verdict(outcome)))
    what.text = _plain(written.getvalue())


def _plain(string: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", string)
