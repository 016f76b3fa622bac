#!/usr/bin/env python3
"""Runs a list of pytest selectors on the device library, whatever the tests do: hang, crash, leave a lock.

    pip install ttnn==0.81.1 torch pytest pyyaml
    export TT_METAL_SIMULATOR=DIR/libtilescope_bh.so          # from `tilescope sim install DIR`
    tools/live/run_list.py --root TT_METAL tests/pipeline_reorg/ttsim-skip-list.yaml --arch blackhole
    tools/live/run_list.py --root TT_METAL tests/ttnn/unit_tests/operations/fused/test_softmax.py::test_softmax_sd
    tools/live/run_list.py ... --rival OTHER/libttsim_bh.so   # the same on another library, and the ratio

A selector names what pytest calls its tests: a directory, a file, or the beginning of a test's id (`test_x.py::test_y[` is
`test_y` with any parameters and not `test_y2`). A list is a text file with one selector a line, or a YAML file
with lists of selectors by architecture. Relative paths are looked for below `--root`. A file that cannot be collected, or
a selector that is nobody's, counts as a test that failed.

Tests of one file run one after the other in one process, so that ttnn is imported once. One that takes longer than
`--timeout` is ended with all that it started, one that takes its process with it is a crash, and the next goes
on in a fresh process. Each result is written to `--results` at once: the same command goes on where it was
interrupted (`--anew` begins anew, `--again failed,crashed` does those again). At the end: a table by file, what
did not pass, and a JUnit file if `--junit` names one.

Exit code 0 if everything passed or was skipped, 1 if not, 2 for a wrong command, 77 without pytest.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

OUTCOMES = ("passed", "skipped", "failed", "crashed", "timed out")
GRACE_S = 60  # beyond a test's own limit: the process begins, imports, collects, ends

# Lives in the tests' process and says what goes on there, a line of JSON each.
PLUGIN = '''
import json, os, time
LOG = open(os.environ["RUN_LIST_LOG"], "a", buffering=1)

def say(**what):
    LOG.write(json.dumps(what) + "\\n")

def shortened(text):
    # What was wrong stands in the first of the lines that begin with E; a long trace may follow.
    begin = max(0, text.find("\\nE ") - 1000)
    return text if len(text) <= 4000 else text[begin:begin + 3000] + "\\n...\\n" + text[-1000:]

def pytest_collection_modifyitems(session, config, items):
    wanted = os.environ.get("RUN_LIST_ONLY")
    if wanted is None:
        for item in items:
            say(collected=item.nodeid)
        return
    order = {name: at for at, name in enumerate(json.load(open(wanted)))}
    items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

def pytest_collectreport(report):
    if report.failed:
        say(uncollected=report.nodeid, text=shortened(str(report.longrepr)))

def pytest_runtest_logstart(nodeid, location):
    open(os.environ["RUN_LIST_REPORT"], "w").close()
    say(begins=nodeid, at=time.time())

def pytest_runtest_logreport(report):
    text = "" if report.passed else shortened(str(report.longrepr))
    say(test=report.nodeid, when=report.when, outcome=report.outcome, seconds=report.duration, text=text)

def pytest_runtest_logfinish(nodeid, location):
    say(ends=nodeid)
'''


def fail(text):
    """Ends with one line that says what is wrong with the command."""
    print(f"run_list: {text}", file=sys.stderr)
    sys.exit(2)


def selectors_of(source, root, arch):
    """The selectors that an argument stands for: itself, or those in the list of that name."""
    path = next((path for path in (pathlib.Path(source), root / source) if path.is_file()), None)
    if path is None or path.suffix == ".py":
        return [source]
    if path.suffix in (".yaml", ".yml"):
        try:
            import yaml
        except ImportError:
            fail(f"{path} is YAML, which this Python cannot read: pip install pyyaml")
        lists = yaml.safe_load(path.read_text())
        if isinstance(lists, dict):
            if arch not in lists:
                fail(f"{path} has no list for {arch}; it has {', '.join(map(str, lists))}")
            lists = lists[arch]
        return [str(selector) for selector in lists or []]
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


class Group:
    """pytest in a process group of its own, and what its plugin says."""

    def __init__(self, work, root, environment, arguments):
        self.log = work / "log"
        self.log.write_text("")
        self.output = work / "output"
        # What the library has to say of a test: pytest keeps it, and takes it along when it is ended.
        self.report = work / "report.txt"
        self.report.write_text("")
        environment = {**environment, "RUN_LIST_LOG": str(self.log), "PYTHONUNBUFFERED": "1"}
        environment["RUN_LIST_REPORT"] = str(self.report)
        environment.setdefault("TILESCOPE_REPORT", str(self.report))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(work), environment.get("PYTHONPATH"))))
        # Below a directory one file that cannot be collected is not to keep the others from running.
        command = [sys.executable, "-m", "pytest", "-p", "run_list_plugin", "-q", "--tb=short",
                   "--continue-on-collection-errors", *arguments]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.read = self.log.open()
        self.partial = ""

    def news(self):
        """What the plugin has said since last asked."""
        *lines, self.partial = (self.partial + self.read.read()).split("\n")
        return [json.loads(line) for line in lines if line]

    def end(self):
        """Ends the process and all that it started, and gives its exit status."""
        for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 30)):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        self.read.close()
        return self.process.wait()

    def tail(self, lines=12):
        """What the library has said, and the last lines of what was printed."""
        printed = self.output.read_text(errors="replace").splitlines()[-lines:]
        return "\n".join(self.report.read_text(errors="replace").splitlines() + printed)


class Runner:
    """Runs tests and keeps their results, by library and test."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        (work / "run_list_plugin.py").write_text(PLUGIN)
        self.results = {}
        if options.results.is_file() and not options.anew:
            for line in options.results.read_text().splitlines():
                try:
                    entry = json.loads(line)
                    self.results[entry["library"], entry["test"]] = entry
                except (ValueError, KeyError, TypeError):
                    continue  # Cut off in the middle of a line.
        elif options.anew:
            options.results.unlink(missing_ok=True)

    def environment(self, library):
        environment = dict(os.environ)
        environment["TT_METAL_SIMULATOR"] = library
        if not self.options.fast_dispatch:
            environment.setdefault("TT_METAL_SLOW_DISPATCH_MODE", "1")
        return environment

    def keep(self, library, test, outcome, seconds, text=""):
        entry = {"library": library, "test": test, "outcome": outcome, "seconds": round(seconds, 3), "text": text}
        self.results[library, test] = entry
        with self.options.results.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        done = sum(1 for name, _ in self.results if name == library)
        print(f"[{done}] {outcome:9} {seconds:7.1f} s  {test}", flush=True)

    def collect(self, path, prefixes, library):
        """The tests of a file or directory that begin with one of the prefixes, or all of them without any; and the
        files that could not be collected, which have failed."""
        group = Group(self.work, self.options.root, self.environment(library),
                      ["--collect-only", str(path), *self.options.pytest])
        try:
            group.process.wait(self.options.timeout + GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        said = group.news()
        status = group.end()
        found = [entry["collected"] for entry in said if "collected" in entry]
        lost = {entry["uncollected"] or str(path): entry["text"] for entry in said if "uncollected" in entry}
        if not found and not lost:
            lost[str(path)] = f"nothing was collected (exit status {status})\n{group.tail()}"
        elif not lost:
            unknown = (prefix for prefix in prefixes if not any(test.startswith(prefix) for test in found))
            lost.update({prefix: "no test's name begins like this" for prefix in unknown})
        for name, text in lost.items():
            self.keep(library, name, "failed", 0, text)
        chosen = [test for test in found if not prefixes or any(test.startswith(prefix) for prefix in prefixes)]
        return chosen, list(lost)

    def is_done(self, library, test):
        entry = self.results.get((library, test))
        return entry is not None and entry["outcome"] not in self.options.again

    def run(self, path, tests, library):
        """Runs those tests of a file that have no result yet."""
        left = [test for test in tests if not self.is_done(library, test)]
        while left:
            done = self.run_some(path, left, library)
            left = [test for test in left if test not in done]

    def run_some(self, path, tests, library):
        """Runs tests until a process ends or has to be ended; gives those that have a result now."""
        only = self.work / "only"
        only.write_text(json.dumps(tests))
        environment = {**self.environment(library), "RUN_LIST_ONLY": str(only)}
        group = Group(self.work, self.options.root, environment, [str(path), *self.options.pytest])
        done, current, parts, since = set(), None, [], time.monotonic()

        def close(outcome, seconds, text=""):
            done.add(current)
            self.keep(library, current, outcome, seconds, text)

        while True:
            ended = group.process.poll() is not None
            for entry in group.news():
                if "begins" in entry:
                    current, parts, since = entry["begins"], [], time.monotonic()
                elif "when" in entry:
                    parts.append(entry)
                elif "ends" in entry:
                    bad = next((part for part in parts if part["outcome"] == "failed"), None)
                    skipped = any(part["outcome"] == "skipped" for part in parts)
                    outcome = "failed" if bad else "skipped" if skipped else "passed"
                    close(outcome, sum(part["seconds"] for part in parts), bad["text"] if bad else "")
                    current, since = None, time.monotonic()
            if ended:
                status = group.end()
                if current is not None:
                    close("crashed", time.monotonic() - since, f"exit status {status}\n{group.tail()}")
                elif not done:
                    current = tests[0]
                    close("crashed", time.monotonic() - since, f"no test began (exit status {status})\n{group.tail()}")
                return done
            limit = self.options.timeout + (0 if current else GRACE_S)
            if time.monotonic() - since > limit:
                group.end()
                current = current or tests[0]
                close("timed out", time.monotonic() - since, group.tail())
                return done
            time.sleep(0.05)


def table(runner, tests, libraries):
    """Prints how many tests of each file came to what, how long they took, and the ratio of two libraries."""
    print()
    for library in libraries:
        rows = collections.defaultdict(lambda: [collections.Counter(), 0.0])
        for test in tests:
            if entry := runner.results.get((library, test)):
                for row in (rows[test.partition("::")[0]], rows["all"]):
                    row[0][entry["outcome"]] += 1
                    row[1] += entry["seconds"]
        width = max(map(len, rows), default=4)
        print(f"{library}\n{'file':{width}} " + " ".join(f"{name:>9}" for name in OUTCOMES) + f" {'seconds':>9}")
        for name in sorted(rows, key=lambda name: (name == "all", name)):
            counts, seconds = rows[name]
            print(f"{name:{width}} " + " ".join(f"{counts[key]:9}" for key in OUTCOMES) + f" {seconds:9.1f}")
        print()
    if len(libraries) == 2:
        pairs = [[runner.results.get((library, test)) for library in libraries] for test in tests]
        both = [(test, own["seconds"], other["seconds"]) for test, (own, other) in zip(tests, pairs)
                if own and other and own["outcome"] == other["outcome"] == "passed"]
        for test, own, other in sorted(both, key=lambda row: row[2] / max(row[1], 1e-3)):
            print(f"{other / max(own, 1e-3):6.2f} times as fast  {own:8.1f} s to {other:8.1f} s  {test}")
        own, other = sum(row[1] for row in both), sum(row[2] for row in both)
        print(f"{len(both)} passed on both: {own:.1f} s to {other:.1f} s, {other / max(own, 1e-3):.2f} times as fast\n")
    for library in libraries:
        for test in tests:
            entry = runner.results.get((library, test))
            if entry and entry["outcome"] not in ("passed", "skipped"):
                print(f"{entry['outcome']}: {test}: {gist(entry['text'])[:160]}")


def gist(text):
    """The line of pytest's text, of the library's or of a process's output that says the most."""
    lines = text.strip().splitlines() or [""]
    said = (line[len(start):].strip() for start in ("E ", "tilescope: ") for line in lines if line.startswith(start))
    return next(said, lines[-1])


def junit(path, runner, tests, library):
    """Writes the results as JUnit XML."""
    entries = [runner.results[library, test] for test in tests if (library, test) in runner.results]
    count = collections.Counter(entry["outcome"] for entry in entries)
    suite = xml.Element("testsuite", name="run_list", tests=str(len(entries)), failures=str(count["failed"]),
                        errors=str(count["crashed"] + count["timed out"]), skipped=str(count["skipped"]),
                        time=f"{sum(entry['seconds'] for entry in entries):.3f}")
    for entry in entries:
        file, _, name = entry["test"].partition("::")
        case = xml.SubElement(suite, "testcase", classname=file, name=name or file, time=str(entry["seconds"]))
        kind = {"failed": "failure", "crashed": "error", "timed out": "error", "skipped": "skipped"}
        if entry["outcome"] in kind:
            part = xml.SubElement(case, kind[entry["outcome"]], message=entry["outcome"])
            part.text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in entry["text"])
    xml.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selectors", nargs="+", help="selectors, and files with lists of them")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(), help="where pytest is run")
    parser.add_argument("--arch", default="blackhole", help="whose list of a YAML file")
    parser.add_argument("--library", default=os.environ.get("TT_METAL_SIMULATOR"),
                        help="the device library (default: TT_METAL_SIMULATOR)")
    parser.add_argument("--rival", help="a second library to run the same on")
    parser.add_argument("--fast-dispatch", action="store_true", help="leave the dispatch mode to ttnn")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of one test")
    parser.add_argument("--sample", type=int, help="so many tests of those selected, by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("run_list.jsonl"),
                        help="where results are kept from run to run")
    parser.add_argument("--anew", action="store_true", help="forget the results there are")
    parser.add_argument("--again", default="", help="outcomes to try again, with commas between")
    parser.add_argument("--junit", type=pathlib.Path, help="a JUnit file to write")
    parser.add_argument("--pytest", action="append", default=[], help="an argument for pytest; may be repeated")
    options = parser.parse_args()
    options.again = [name for name in options.again.split(",") if name]
    if unknown := set(options.again) - set(OUTCOMES):
        fail(f"no such outcome: {', '.join(sorted(unknown))}; there are {', '.join(OUTCOMES)}")
    if not options.library:
        fail("no device library: set TT_METAL_SIMULATOR, or give --library; `tilescope sim install DIR` writes one")
    if not options.root.is_dir():
        fail(f"no directory {options.root}")
    return options


def main():
    options = arguments()
    if subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True).returncode:
        print("skipped: this Python has no pytest")
        sys.exit(77)
    wanted = collections.defaultdict(list)
    for source in options.selectors:
        for selector in selectors_of(source, options.root, options.arch):
            path = selector.partition("::")[0]
            if not (options.root / path).exists():
                fail(f"no file {options.root / path} (selector {selector})")
            wanted[path].append(selector)
    libraries = [library for library in (options.library, options.rival) if library]
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(options, pathlib.Path(work))
        files, lost = {}, []
        for path, selectors in wanted.items():
            files[path], without = runner.collect(path, [name for name in selectors if name != path], libraries[0])
            lost += without
        if options.sample is not None:
            every = [test for tests in files.values() for test in tests]
            chosen = set(random.Random(options.seed).sample(every, min(options.sample, len(every))))
            files = {path: [test for test in tests if test in chosen] for path, tests in files.items()}
        try:
            for path, tests in files.items():
                for library in libraries:
                    runner.run(path, tests, library)
        except KeyboardInterrupt:
            print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        tests = [test for tests in files.values() for test in tests] + lost
        table(runner, tests, libraries)
        if options.junit:
            junit(options.junit, runner, tests, libraries[0])
        good = ("passed", "skipped")
        sys.exit(not all(runner.results.get((libraries[0], test), {}).get("outcome") in good for test in tests))


if __name__ == "__main__":
    main()
