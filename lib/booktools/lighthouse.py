"""What Google's Lighthouse thinks of the built pages on a phone: `make lighthouse`.

The site is served compressed, as any host does. PAGE names one page (back/ledger.html); else one
of each kind is judged. RUNS of a page are made, and the middle one counts, since the score is noisy
on a busy machine: read it together with the load that is printed. Performance must be 60 or more,
accessibility 100.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from browser import browse  # noqa: E402

SITE = ROOT / "_build" / "html"
COMMAND = ["npx", "--yes", "lighthouse@13.5.0"]
FLAGS = "--headless=new --no-sandbox --disable-gpu"
KINDS = [
    "index.html", "ch2_shallow_linear/two_layer.html", "ch5_convergence/theorem_14.html",
    "ch6_adversarial/training_converges.html", "companions/surprises/detector.html",
    "back/ledger.html", "back/ledger/ch2.html", "back/library/linear.html", "back/errata.html",
    "back/scoreboard.html",
]  # fmt: skip
LEAST = {"performance": 60, "accessibility": 100}


@cache
def packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)


class Handler(SimpleHTTPRequestHandler):
    """Serves text compressed, and all of it from a cache of an hour."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        kind = self.guess_type(str(path))
        small = kind.startswith(("text/", "application/json", "image/svg"))
        body = packed(path) if small else path.read_bytes()
        self.send_response(200)
        if small:
            self.send_header("Content-Encoding", "gzip")
        for name, value in [("Content-Type", kind), ("Content-Length", len(body)),
                            ("Cache-Control", "max-age=3600")]:  # fmt: skip
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)


def judge(url: str) -> dict:
    """The scores of one run, of 100, and what takes long."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        options = [
            "--quiet",
            "--output=json",
            f"--output-path={file.name}",
            "--only-categories=performance,accessibility",
            f"--chrome-flags={FLAGS}",
        ]
        environment = {**os.environ, "CHROME_PATH": browse.chromium()}
        subprocess.run([*COMMAND, url, *options], check=True, env=environment)
        report = json.loads(Path(file.name).read_bytes())
    scores = {name: round(100 * report["categories"][name]["score"]) for name in LEAST}
    audits = report["audits"]
    seconds = {
        short: audits[name]["numericValue"] / 1000
        for short, name in [("FCP", "first-contentful-paint"), ("LCP", "largest-contentful-paint"),
                            ("TBT", "total-blocking-time")]
    }  # fmt: skip
    failed = [
        reference["id"]
        for reference in report["categories"]["accessibility"]["auditRefs"]
        if audits[reference["id"]]["score"] == 0
    ]
    return scores | seconds | {
        "CLS": audits["cumulative-layout-shift"]["numericValue"],
        "kB": audits["total-byte-weight"]["numericValue"] / 1000,
        "failed": failed,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=KINDS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--html", type=Path, default=SITE)
    arguments = parser.parse_args()
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *a: Handler(*a, directory=str(arguments.html))
    )
    Thread(target=server.serve_forever, daemon=True).start()
    print("perf a11y   FCP   LCP   TBT   CLS    kB  load  page")
    bad = False
    for page in arguments.pages:
        url = f"http://127.0.0.1:{server.server_port}/book/{page}"
        runs = [judge(url) for _ in range(arguments.runs)]
        middle = {name: median(run[name] for run in runs) for name in runs[0] if name != "failed"}
        bad |= any(middle[name] < least for name, least in LEAST.items())
        print(
            "{performance:4.0f} {accessibility:4.0f} {FCP:5.1f} {LCP:5.1f} {TBT:5.2f} {CLS:5.2f} "
            "{kB:5.0f}".format(**middle),
            f"{os.getloadavg()[0]:5.1f}  {page} {', '.join(runs[0]['failed'])}",
            flush=True,
        )
    sys.exit(bad)


if __name__ == "__main__":
    main()
