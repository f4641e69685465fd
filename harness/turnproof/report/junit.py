"""`junit.xml`: one test case per requirement and path, in the form that Jenkins, GitLab and GitHub actions read.

What fails a run fails here: a violated MUST is a failure, an inconclusive MUST an error. Everything else that is not
held is skipped with its reason, a violated SHOULD among it, so that the tally agrees with the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ..judge.verdict import Status
from ._inline_text import LOOKS, one_line, printable
from .certification import reproduce
from .failures import advice, group_rows, reasons_of
from .finding_groups import groups, scenarios


def junit_xml(run: Run) -> bytes:
    """The whole document, UTF-8 with its declaration."""
    root = Element("testsuites", name="turnproof")
    for adapter in run.adapters.values():
        root.append(_suite(run, adapter))
    if not run.complete or (run.footer and run.footer.problems):
        root.append(_run_suite(run))
    _tally(root, root.iter("testcase"))
    indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode").encode() + b"\n"


def _suite(run: Run, adapter: AdapterLine) -> Element:
    suite = Element("testsuite", name=one_line(adapter.name), timestamp=_timestamp(run))
    for line in run.results:
        if line.adapter == adapter.name:
            suite.append(_case(run, adapter, run.requirements[line.requirement], line))
    _tally(suite, suite.iter("testcase"))
    return suite


def _case(run: Run, adapter: AdapterLine, requirement: RequirementLine, line: ResultLine) -> Element:
    name = f"{requirement.id} [{line.path}]"
    case = Element("testcase", classname=one_line(f"{adapter.name}.{requirement.profile}"), name=one_line(name))
    verdict = line.verdict
    word = LOOKS[verdict.status].word
    message = one_line(run.message(verdict)) or word
    match verdict.status, requirement.level:
        case Status.HELD, _:
            pass
        case Status.VIOLATED, "MUST":
            _tell(case, "failure", message, word, _explanation(run, adapter, requirement, line))
        case Status.INCONCLUSIVE, "MUST":
            _tell(case, "error", message, word, _explanation(run, adapter, requirement, line))
        case _:
            SubElement(case, "skipped", message=f"{word} ({requirement.level}): {message}")
    return case


def _tell(case: Element, tag: str, message: str, kind: str, text: str) -> None:
    SubElement(case, tag, message=message, type=kind).text = text


def _explanation(run: Run, adapter: AdapterLine, requirement: RequirementLine, line: ResultLine) -> str:
    verdict = line.verdict
    found = groups(verdict.findings, run.templates)
    blocks = [
        f"{requirement.level} {requirement.id}: {requirement.title}",
        "" if verdict.empty and verdict.undecided else verdict.message,
        verdict.detail,
        "\n".join(f"{why}: {do}" for why, do in reasons_of(verdict)),
        *(
            "\n".join(f"{label or ' ' * 8}: {text}" if label else f"  {text}" for label, text in group_rows(group))
            for group in found
        ),
        f"{verdict.total} findings in: {', '.join(scenarios(verdict.failing))}" if found else "",
        f"why: {requirement.reason}" if requirement.reason else "",
        *(f"{label}: {text}" for label, text in advice(verdict.status, requirement, explained=bool(verdict.undecided))),
        f"reproduce: {reproduce(run, adapter, requirement.id, [verdict])}",
    ]
    return printable("\n\n".join(block for block in blocks if block))


def _run_suite(run: Run) -> Element:
    """What is wrong with the run as a whole, as test cases: most readers of JUnit know no other place."""
    suite = Element("testsuite", name="the run itself", timestamp=_timestamp(run))
    if not run.complete:
        case = SubElement(suite, "testcase", classname="turnproof.run", name="the run came to its end")
        _tell(case, "error", "the run was cut: it certifies nothing", "cut", "run.ndjson has no footer")
    for number, problem in enumerate(run.footer.problems if run.footer else ()):
        case = SubElement(suite, "testcase", classname="turnproof.run", name=f"problem {number + 1}")
        _tell(case, "failure", one_line(problem), "problem", printable(problem))
    _tally(suite, suite.iter("testcase"))
    return suite


def _tally(element: Element, cases: Iterable[Element]) -> None:
    every = list(cases)
    element.set("tests", str(len(every)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        # The schema of Jenkins knows no `skipped` on the outermost element.
        if not (attribute == "skipped" and element.tag == "testsuites"):
            element.set(attribute, str(sum(case.find(tag) is not None for case in every)))


def _timestamp(run: Run) -> str:
    """ISO 8601 without a zone, as the schemas want it; it is UTC."""
    return run.header.started.removesuffix("Z").partition("+")[0]
