"""Show what failed on this build: on its page, in the ledger, on the map, and in the terminal.

A page that fails is built with the output of its cells, and the next build runs it again. The build
ends with a list of the failures, with the facts that a report needs, and with exit status 1.

`python -m booksite.failures` prints the processor, the arithmetic and the versions.
"""

import re
from pathlib import Path
from typing import NamedTuple

import torch
from docutils import nodes
from nbformat import NotebookNode
from threadpoolctl import threadpool_info

from runproofs.claims.pages import checks_in
from runproofs.claims.registry import register
from runproofs.experiments.provenance import machine, versions

from .page_info import below_title
from .progress import tell
from .publishing import repository

FORM = ".github/ISSUE_TEMPLATE/page.yml"
RED = "red on this build"


class Failure(NamedTuple):
    """One failed row or cell; claim: the id of the claim, "" if no card failed."""

    claim: str
    said: str


def show(notebook: NotebookNode) -> tuple[list[Failure], set[str]]:
    """The failures of an executed page, and the claims without a green card.

    Changes the notebook: the error after a red card is removed, because the card says everything;
    of any other error only the last line stays.
    """
    found, red = [], set()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        tags = cell.metadata.get("tags", [])
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if errors and "raises-exception" not in tags:
            for error in errors:
                if error.ename == "ClaimFailed":
                    claim, *rows = error.traceback
                    claim = claim.removeprefix("ClaimFailed: ")
                    claim = claim if claim in register() else ""  # an example
                    found += [Failure(claim, row) for row in rows]
                    cell.outputs.remove(error)
                else:
                    error.traceback = [f"{error.ename}: {error.evalue}".removesuffix(": ")]
                    found.append(Failure("", " ".join(error.traceback[0].split())))
    for cell in code if found else []:
        html = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
        cards = "" if 'class="failed"' in html else re.findall(r"ledger\.html#claim-([\w-]+)", html)
        checked = checks_in(f"```{{code-cell}}\n{cell.source}\n```\n")
        red |= {claim for claim in checked if register()[claim].slug not in cards}
    return found, red


def add_notice(app, doctree):
    """Put a notice with the failures under the title of the page."""
    failures = app.env.book_failures.get(app.env.docname)
    if not failures:
        return
    notice = nodes.admonition("", nodes.title("", f"{RED.capitalize()}"), classes=["danger", "red"])
    for claim, said in failures:
        line = nodes.paragraph()
        if claim:
            entry = register()[claim]
            line += nodes.reference("", entry.name, refuri=f"#check-{entry.slug}", internal=True)
            line += nodes.Text(": ")
        parts = enumerate(said.split("$"))
        line += [nodes.math(part, part) if k % 2 else nodes.Text(part) for k, part in parts]
        notice += line
    below_title(doctree, notice)


# At the end -------------------------------------------------------------------------------------


def here() -> str:
    """The processor, the arithmetic and the versions, as the report form asks for them."""
    known = machine()
    kernels = [
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}".strip()
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    kernels = ", ".join(
        [*dict.fromkeys(kernels), f"torch {torch.backends.cpu.get_cpu_capability()}"]
    )
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    return (
        f"Processor: {known['cpu']}, {known['system']}\nArithmetic: {kernels}\nVersions: {packages}"
    )


def report(app, exception):
    """List the failures and end with status 1; mark the build as complete (for the Makefile)."""
    if exception:
        return
    if app.builder.format == "html" and not app._warncount:
        (Path(app.outdir).parent / ".complete").touch()
    failed = app.env.book_failures
    if not failed:
        return
    app.statuscode, home = 1, repository(app.config)
    form = f"{home}/issues/new?template=page.yml" if home else f"an issue with the form {FORM}"
    lines = "\n".join(
        f"{app.env.titles[page].astext()} ({page})"
        f"{f', {register()[claim].name}' if claim else ''}: {said}"
        for page, failures in failed.items()
        for claim, said in failures
    )
    tell(
        f"\nThe site is complete, but these checks failed on this machine:\n\n{lines}\n\n"
        "If you changed nothing, the mistake is in the book, not yours: most often a row\n"
        "depends on how this processor rounds. The next build runs these pages again.\n"
        f"Please report the lines above, with these three ({form}):\n\n{here()}\n"
    )


def setup(app):
    app.connect("doctree-read", add_notice, 950)  # above the line of page_info
    app.connect("build-finished", report)


if __name__ == "__main__":
    tell(here())
