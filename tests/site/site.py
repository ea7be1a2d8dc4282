#!/usr/bin/env python3
"""site.py PACKAGES: the documents build as a site without a warning (tools/site), and the site is whole.

- Every link and picture leads to a file of the site, and its #address to an element there. Nothing is loaded from elsewhere.
- Every page of docs/ has a page. The sidebar of each has all that docs/index.md leads to, in its groups.
- In a browser of 360 and of 1200 pixels no page scrolls sideways; tables and code do so in a box of their own. Nothing is logged.
- The search finds pages of the reader's language alone, each once, and what readers look for where they would look first.

PACKAGES is where mkdocs is, if it is not installed otherwise. Exit code 77: there is none, or no browser."""
import functools
import html.parser
import http.server
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = pathlib.Path(sys.argv[1])
WIDTHS = (360, 1200)
# What a reader of a page types, and the address that comes first.
SEARCHES = {
    "index.html": {"multi gpu": "tuning.html#several-gpus", "shared memory limit": "config.html#limits", "cache location": "cache.html#location",
                   "docker": "install.html#in-a-container", "pytorch": "python.html", "wisdom": "cache.html#wisdom",
                   "exit codes": "environment.html#exit-codes", "occupancy": "report.html", "softmax": "cookbook.html"},
    "memory.zh.html": {"合并": "memory.zh.html"},
}
LOOK = """(() => { const page = document.scrollingElement;
  const wide = [...document.querySelectorAll('body *')].filter(e => e.getClientRects().length > 0 && !e.closest('.wide, pre') &&
    e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + '.' + e.className);
  return {width: innerWidth, over: page.scrollWidth - innerWidth, wide: wide.slice(0, 5), text: page.textContent.length}; })()"""


class Page(html.parser.HTMLParser):
    """The addresses in a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        for name in ("src", "srcset") if tag != "link" else ("href",):
            if attrs.get(name) and attrs.get("rel") != "canonical":
                self.loads.append(attrs[name])


def build(folder):
    apart = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", ROOT / "tools/site/mkdocs.yml",
                            "--site-dir", folder], env=apart, capture_output=True, text=True, check=False)
    return [f"mkdocs: {line}" for line in (built.stdout + built.stderr).splitlines() or ["it failed"] * (built.returncode != 0)]


def check_link(folder, pages, path, target, loaded):
    scheme, host, file, _, address = urllib.parse.urlsplit(target)
    if scheme in ("http", "https", "mailto") or host:
        return "is loaded from elsewhere" if loaded else None
    found = (path.parent / urllib.parse.unquote(file)).resolve() if file else path
    if found.is_dir() or not found.exists() or folder not in found.parents:
        return "leads nowhere"
    if address and found in pages and urllib.parse.unquote(address) not in pages[found].ids:
        return "leads to no heading"
    return None


def check_links(folder, pages):
    count, wrong = 0, []
    for path, page in pages.items():
        if path.name == "404.html": # its links begin at the server's root
            continue
        for loaded, targets in ((False, page.links), (True, page.loads)):
            for target in targets:
                count += 1
                what = check_link(folder, pages, path, target, loaded)
                wrong += [f"{path.relative_to(folder)}: {target} {what}"] if what else []
    print(f"{len(pages)} pages, {count} links")
    return wrong


def check_pages(folder, pages):
    wrong = [f"docs/{page.name} has no page" for page in ROOT.glob("docs/*.md")
             if not (folder / page.name).with_suffix(".html").exists()]
    index = (ROOT / "docs" / "index.md").read_text()
    for page in ROOT.glob("docs/*.md"):
        links = pages[(folder / page.name).with_suffix(".html")].links
        wrong += [f"{page.name}: the sidebar does not have {other.stem}" for other in ROOT.glob("docs/*.md")
                  if other.with_suffix(".html").name not in links and other.name != "index.md"]
    return wrong + [f"docs/index.md has no group {name}" for name in ("Use", "Reference", "Learn", "Results and design") if f"\n## {name}" not in index]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def value(browser, expression):
    return browser.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")


def is_error(event):
    logged = event.get("params", {}).get("entry", {}).get("level") == "error"
    return event.get("method") == "Runtime.exceptionThrown" or event.get("method") == "Log.entryAdded" and logged


def look(browser, base, name):
    wrong = []
    browser.events.clear()
    browser.call("Page.navigate", url=base + name)
    browser.wait_for("Page.loadEventFired")
    for width in WIDTHS:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        seen = value(browser, LOOK)
        if seen["width"] != width or seen["over"] > 0 or seen["wide"]:
            wrong.append(f"{name} at {width} pixels: {seen}")
    return wrong + [f"{name}: {json.dumps(event['params'])[:400]}" for event in browser.events if is_error(event)]


def search(browser, base, page, queries):
    """Opens the search of a page and types each query, as a reader would: the addresses that it finds."""
    browser.events.clear()
    browser.call("Page.navigate", url=base + page)
    browser.wait_for("Page.loadEventFired")
    return value(browser, """(async () => {
      const box = document.getElementById('mkdocs-search-query'), results = document.getElementById('mkdocs-search-results'), found = [];
      document.querySelector('[data-bs-target="#mkdocs_search_modal"]').click();
      for (let tries = 0; tries < 240 && !window.searchIndex; tries++) await new Promise(done => setTimeout(done, 250));
      for (const query of %s) {
        box.value = query;
        box.dispatchEvent(new Event('input'));
        found.push([...results.querySelectorAll('a')].map(a => a.getAttribute('href').replace('./', '')));
      }
      return found; })()""" % json.dumps(queries)) or []


def check_search(browser, base):
    wrong = []
    for page, queries in SEARCHES.items():
        for (query, wanted), found in zip(queries.items(), search(browser, base, page, list(queries)), strict=True):
            names = [address.partition("#")[0] for address in found]
            chinese = [name.endswith(".zh.html") for name in names]
            if not found or not found[0].startswith(wanted) or len(set(names)) < len(names) or set(chinese) != {page.endswith(".zh.html")}:
                wrong.append(f"the search for '{query}' in {page} finds {found}")
    return wrong


def check_browser(folder, pages):
    spec = importlib.util.spec_from_file_location("browser", ROOT / "tests" / "cli" / "browser.py")
    browsers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(browsers)
    program = browsers.find_browser()
    if not program:
        return None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = browsers.Browser(program, profile)
        browser.open_tab()
        wrong = [line for path in pages for line in look(browser, base, path.relative_to(folder).as_posix())] + check_search(browser, base)
        browser.close()
    server.shutdown()
    return wrong


def main():
    sys.path.insert(0, str(PACKAGES))
    if not importlib.util.find_spec("mkdocs"):
        print("skipped: mkdocs is not installed; tools/site/build does it")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        wrong = build(folder)
        pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
        if pages:
            wrong += check_links(folder, pages) + check_pages(folder, pages)
            seen = check_browser(folder, pages)
            if seen is None and not wrong:
                print("skipped: there is no Chromium to show pages with")
                return 77
            wrong += seen or []
    print("\n".join(wrong) or "all of it is whole")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
