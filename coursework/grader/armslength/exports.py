"""The marks in the formats of those who keep the books: Canvas, Moodle, Gradescope.

Canvas wants its own columns and a second line with the marks that can be had; Moodle asks which
column is what; what stands in the roster as id is Canvas' SIS User ID and Moodle's ID number. A
mark is left empty where some by hand are missing; both leave out files that the roster gives to
nobody. Gradescope takes marks from a program that it runs on each notebook: `gradescope.zip` is one
that knows the notebooks graded here by their bytes, and of several that are the same that of the
student whose name, or id, Gradescope says.
"""

import hashlib
import json
import zipfile
from collections import defaultdict

from armslength import table

RUN = """#!/usr/bin/env python3
import glob, hashlib, json
known = json.load(open("source/known.json"))
files = glob.glob("submission/**/*.ipynb", recursive=True)
keys = [hashlib.sha256(open(file, "rb").read()).hexdigest() for file in files]
found = [entry for key in keys for entry in known.get(key, [])]
try:
    users = json.load(open("submission_metadata.json"))["users"]
except (OSError, ValueError, KeyError):
    users = []
said = {str(value) for user in users for value in user.values()}
found = [entry for entry in found if said & {*entry["who"]}] or found
results = [entry["result"] for entry in found]
if not results:
    results = [{"score": 0, "output": "This notebook is not marked yet."}]
elif any(result != results[0] for result in results):
    results = [{"score": 0, "output": "Several students have this notebook: ask for its marks."}]
json.dump(results[0], open("results/results.json", "w"))
"""
SET_UP = "#!/bin/sh\napt-get install -y python3\n"


def write(graded, source, out):
    """canvas.csv, moodle.csv and gradescope.zip for all that was `graded`, as in marks.rows."""
    title, possible = source.title(), f"{sum(q.points for q in source.questions):g}"
    canvas = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        ["Points Possible", "", "", "", "", possible],
    ]
    moodle = [["ID number", "Full name", title, f"{title} (feedback)"]]
    known = defaultdict(list)
    for handed, result, by_hand in graded:
        total = by_hand.total(handed, source, result)
        mark = "" if total is None else f"{total:g}"
        if handed.listed:
            canvas.append([handed.name, "", handed.student, "", "", mark])
            told = list(_lines(source, result, by_hand))
            moodle.append([handed.student, handed.name, mark, "; ".join(told)])
        if handed.content is not None:
            key = hashlib.sha256(handed.content).hexdigest()
            who = [word for word in (handed.student, handed.name) if word]
            entry = {"who": who, "result": _for_gradescope(source, result, by_hand)}
            known[key].append(entry)
    table.write(out / "canvas.csv", canvas)
    table.write(out / "moodle.csv", moodle)
    with zipfile.ZipFile(out / "gradescope.zip", "w") as archive:
        for name, text in (("setup.sh", SET_UP), ("run_autograder", RUN)):
            program = zipfile.ZipInfo(name)
            program.external_attr = 0o755 << 16  # it may be executed
            archive.writestr(program, text)
        archive.writestr("known.json", json.dumps(known))


def _scores(source, result, by_hand):
    """Question, mark or None, what is told, of each question in order."""
    hints = {mark.question: mark.hints for mark in result.marks}
    for question in source.questions:
        name = question.name
        told = [by_hand.comments[name]] if name in by_hand.comments else hints.get(name, [])
        if changes := by_hand.changes_of(name):
            told = [change.reason for change in changes]
        yield question, by_hand.mark(name, result), "\n".join(told)


def _lines(source, result, by_hand):
    for question, score, told in _scores(source, result, by_hand):
        text = "?" if score is None else f"{score:g}"
        line = f"{question.name} {text} of {question.points:g}"
        yield f"{line} ({told})" if told and question.manual else line


def _for_gradescope(source, result, by_hand):
    tests = [
        {"name": q.name, "score": score, "max_score": q.points, "output": told}
        for q, score, told in _scores(source, result, by_hand)
        if score is not None
    ]
    return {"tests": tests, "output": "\n".join(result.remarks)}
