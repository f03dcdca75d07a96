"""Scores of Google's Lighthouse for the built pages on a phone.

The site is served compressed, as hosts do. The median of the runs of a page counts, because the
score is noisy on a busy machine; read it together with the printed load. Performance must be at
least 60, accessibility 100.
"""

import argparse
import gzip
import json
import os
import subprocess
import tempfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

from browser import browse

from . import ROOT

COMMAND = ["npx", "--yes", "lighthouse@13.5.0", "--quiet", "--output=json"]
COMMAND += ["--only-categories=performance,accessibility"]
COMMAND += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu"]
KINDS = [
    "index.html", "ch2_shallow_linear/two_layer.html", "ch5_convergence/theorem_14.html",
    "ch6_adversarial/training_converges.html", "companions/surprises/detector.html",
    "back/ledger.html", "back/ledger/ch2.html", "back/library/linear.html", "back/errata.html",
    "back/scoreboard.html",
]  # fmt: skip
LEAST = {"performance": 60, "accessibility": 100}
SHOWN = {
    "FCP": "first-contentful-paint", "LCP": "largest-contentful-paint",
    "TBT": "total-blocking-time", "CLS": "cumulative-layout-shift", "bytes": "total-byte-weight",
}  # fmt: skip


class Handler(SimpleHTTPRequestHandler):
    """Serves text files compressed."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        kind, body = self.guess_type(str(path)), path.read_bytes()
        self.send_response(200)
        if kind.startswith(("text/", "application/json", "image/svg")):
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        for header in [("Content-Type", kind), ("Content-Length", str(len(body))),
                       ("Cache-Control", "max-age=3600")]:  # fmt: skip
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)


def judge(url: str) -> tuple[dict, list[str]]:
    """The scores of one run, of 100, with what is SHOWN; the audits of accessibility it fails."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        environment = {**os.environ, "CHROME_PATH": browse.chromium()}
        command = [*COMMAND, url, f"--output-path={file.name}"]
        subprocess.run(command, check=True, env=environment)
        report = json.loads(Path(file.name).read_bytes())
    audits, categories = report["audits"], report["categories"]
    scores = {name: round(100 * categories[name]["score"]) for name in LEAST}
    references = [reference["id"] for reference in categories["accessibility"]["auditRefs"]]
    failed = [name for name in references if audits[name]["score"] == 0]
    return scores | {s: audits[name]["numericValue"] for s, name in SHOWN.items()}, failed


def main(arguments: list[str]) -> int:
    """Judge a page of each kind, or those named; 1 if a score is too low."""
    parser = argparse.ArgumentParser("python -m booktools lighthouse", description=main.__doc__)
    parser.add_argument("pages", nargs="*", default=KINDS, help="such as back/ledger.html")
    parser.add_argument("--runs", type=int, default=1)
    options, site = parser.parse_args(arguments), str(ROOT / "_build" / "html")
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory=site))
    Thread(target=server.serve_forever, daemon=True).start()
    bad = False
    for page in options.pages:
        url = f"http://127.0.0.1:{server.server_port}/book/{page}"
        runs = [judge(url) for _ in range(options.runs)]
        middle = {name: median(run[name] for run, _ in runs) for name in runs[0][0]}
        bad |= any(middle[name] < least for name, least in LEAST.items())
        words = [f"{name} {value:.3g}" for name, value in middle.items()]
        print(
            f"{page}: {', '.join(words)}; load {os.getloadavg()[0]:.1f}; {runs[0][1]}", flush=True
        )
    return int(bad)
