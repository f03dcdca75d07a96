"""Opens built pages in headless Chromium and says what is wrong with them."""

import re
import time
from contextlib import contextmanager
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

PROBE = (Path(__file__).parent / "probe.js").read_text("utf-8")
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE = 20.0  # seconds a loaded page may take to typeset and to fetch what it asked for


def site(config):
    """The folder of the built site: of pytest's option --html, or that of the last build."""
    return config.getoption("html") or config.rootpath / "_build" / "html"


def page_names(root):
    """Every page of the built site, relative to its root; _static holds templates, not pages.

    Of the sources of the library, which viewcode writes all in one way, the largest stands for all.
    """
    paths = [path.relative_to(root) for path in Path(root).rglob("*.html")]
    sources = [path for path in paths if path.parts[0] == "_modules"]
    left_out = sorted(sources, key=lambda path: Path(root, path).stat().st_size)[:-1]
    paths = [path for path in paths if path.parts[0] != "_static" and path not in left_out]
    return sorted(path.as_posix() for path in paths)


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def serve(root):
    """Serve a site on 127.0.0.1 and yield its address, which ends in "/".

    It lies in a sub-folder of the server, as on most hosts: a link to "/x" leaves the site.
    """
    root = Path(root).resolve()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=root.parent))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{quote(root.name)}/"
    finally:
        server.shutdown()
        server.server_close()


def complaints(context, root, home, name):
    """All that is wrong with one page, a sentence each, in no particular order.

    context: a Playwright browser context; root: the folder of the site; home: where `serve` has
    it; name: the page, relative to root. The page is opened twice, from the server and from the
    disk, as readers do; cost: about a second, most of it MathJax.
    """
    root = Path(root).resolve()
    target = _redirect((root / name).read_text(encoding="utf-8"))
    if target is not None:
        return _broken_links([("redirect", urljoin(home + name, target))], root, home)
    with visit(context, home, name) as (page, found):
        seen = page.evaluate(f"({PROBE}).content()")
        found += seen["complaints"] + _broken_links(seen["links"], root, home)
        page.set_viewport_size(PHONE)
        found += page.evaluate(f"({PROBE}).overflow()")
        found += page.evaluate(f"({PROBE}).illegible()")
    disk = root.as_uri() + "/"
    with visit(context, disk, name) as (_, found_on_disk):
        found = [what.replace(home, "") for what in found]
        found_on_disk = [what.replace(disk, "") for what in found_on_disk]
    return found + [f"opened as a file: {what}" for what in found_on_disk if what not in found]


@contextmanager
def visit(context, home, name):
    """Open a page and wait until it is still; yield it with what the browser complained of."""
    page = context.new_page()
    found, pending, blamed = [], set(), set()

    def blame(url, what):
        if url not in blamed:
            blamed.add(url)
            found.append(f"{what}: {url}")

    def on_request(request):
        pending.add(request)
        if not request.url.startswith((home, "data:", "blob:")):
            blame(request.url, "request that leaves the site")

    def on_failure(request):
        pending.discard(request)
        if request.failure != "net::ERR_ABORTED":  # a test went to another page before it came
            blame(request.url, "failed request")

    def on_response(response):
        if response.status >= 400:
            blame(response.url, "failed request")

    def on_console(message):
        if message.type == "error" and message.text.startswith("Failed to load resource"):
            blame(message.location["url"], "failed request")  # the icon is told here alone
        elif message.type == "error":
            found.append(f"console error: {message.text}")

    page.on("request", on_request)
    page.on("requestfinished", lambda request: pending.discard(request))
    page.on("requestfailed", on_failure)
    page.on("response", on_response)
    page.on("websocket", lambda socket: found.append(f"websocket: {socket.url}"))
    page.on("pageerror", lambda error: found.append(f"page error: {error}"))
    page.on("console", on_console)
    try:
        page.goto(home + name, wait_until="load")
        found += page.evaluate(f"({PROBE}).settle({PATIENCE})")
        deadline = time.monotonic() + PATIENCE
        while pending and time.monotonic() < deadline:
            page.wait_for_timeout(20)
        found += [f"request without an answer: {request.url}" for request in pending]
        yield page, found
    finally:
        page.close()


def _redirect(source):
    found = re.search(r'<meta http-equiv="refresh" content="\d+; *url=([^"]+)"', source, re.I)
    return found and found[1]


def _broken_links(links, root, home):
    return [
        f"broken link: {text!r} -> {href.replace(home, '')} ({reason})"
        for text, href in links
        if (reason := _broken(href, root, home))
    ]


def _broken(href, root, home):
    """Why a link of a page of the site leads nowhere, or None; other hosts are not asked."""
    url, fragment = urldefrag(href)
    if not url.startswith(home):
        return "leaves the site" if url.startswith(("file:", urljoin(home, "/"))) else None
    target = root / unquote(urlsplit(url.removeprefix(home)).path)
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    if fragment and target.suffix == ".html" and unquote(fragment) not in _anchors(target):
        return "no such anchor"
    return None


@cache
def _anchors(path):
    """What a fragment may name in a page as it was built; "top" needs no element."""
    parser = _Anchors()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


class _Anchors(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = {"top"}

    def handle_starttag(self, tag, attributes):
        names = ("id", "name") if tag == "a" else ("id",)
        self.found |= {value for key, value in attributes if key in names}
