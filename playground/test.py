"""The playground in a headless Chromium: `test.py PAGE PROGRAM` compares what the page does with the native program.

With `--pictures FOLDER` it makes the pictures of docs/playground.md instead.
"""

import argparse
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent

# One scenario of each system, made small by the values of these fields.
SYSTEMS = {
    "outsourced": ("scenarios/hospital.ron", {"rounds": 6, "replications": 2}),
    "local": ("scenarios/users.ron", {"rounds": 60, "replications": 2}),
    "federated": ("tests/golden/federated.ron", {}),
    "release": ("scenarios/release.ron", {"rounds": 6, "settings": 8, "replications": 2}),
}


class Playground:
    """The page in a browser, beside the native program."""

    def __init__(self, browser, page, program, place):
        self.browser, self.address, self.program, self.place = browser, page.resolve().as_uri(), program, place

    def native(self, *arguments, cwd=ROOT):
        """What the native program prints, as JSON, whatever its exit code."""
        command = [str(self.program), *map(str, arguments), "--format", "json"]
        answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        return json.loads(answer.stdout or answer.stderr)

    def write(self, text):
        """Replaces the text of the editor, as typing does."""
        self.browser.run(
            f"(() => {{ text.value = {json.dumps(text)}; text.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        )
        self.checked()

    def checked(self):
        """Waits until the text is checked."""
        self.browser.wait("wanted > 0 && checkedUpTo === wanted && !check.busy", "the text is checked")

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def play(self):
        """Runs the scenario to its end, and returns what the page says."""
        self.browser.click("#run")
        self.browser.wait("!running && !runButton.disabled", "the run ends")
        return self.text("#state")

    def downloaded(self):
        """The run folder, as the page gives it to the user: the files by their names in it."""
        before = set(os.listdir(self.browser.folder))
        self.browser.click("#download")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            new = [name for name in set(os.listdir(self.browser.folder)) - before if name.endswith(".tar.gz")]
            if new and (pathlib.Path(self.browser.folder) / new[0]).stat().st_size > 0:
                break
            self.browser.run("1")
            time.sleep(0.05)
        assert new, "nothing was downloaded"
        name = new[0]
        archive = pathlib.Path(self.browser.folder) / name
        bytes_ = gzip.decompress(archive.read_bytes())
        # A later run of the same scenario has the same name.
        archive.unlink()
        with tarfile.open(fileobj=io.BytesIO(bytes_)) as archive:
            files = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
        folder = name.removesuffix(".tar.gz")
        assert all(path.startswith(folder + "/") for path in files), files.keys()
        return folder, {path.removeprefix(folder + "/"): contents for path, contents in files.items()}


def systems(page):
    """One scenario of each system has the digest that it has natively, and every file of its folder the same contents."""
    shutil.copytree(ROOT / "scenarios/data", page.place / "scenarios/data")
    for system, (file, fields) in SYSTEMS.items():
        text = (ROOT / file).read_text()
        for field, value in fields.items():
            text, changed = re.subn(rf"\b{field}: [0-9]+", f"{field}: {value}", text)
            assert changed == 1, (file, field)
        scenario = page.place / "scenarios" / pathlib.Path(file).name
        scenario.write_text(text)
        native = page.native("run", scenario, "--out", page.place / "runs")
        page.browser.open(page.address + f"#from={file}")
        page.checked()
        page.write(text)
        said = page.play()
        assert said.startswith("Finished: ") and said.endswith(f"digest {native['digest']}"), (system, said)
        folder, files = page.downloaded()
        there = pathlib.Path(native["run"])
        kept = {str(path.relative_to(there)): path.read_bytes() for path in there.rglob("*") if path.is_file()}
        assert files.keys() == kept.keys(), (system, files.keys() ^ kept.keys())
        # The name of a folder and the identity of a cell hold the sources of the program.
        assert folder == there.name, (system, folder, there.name)
        for name, contents in kept.items():
            # What the two must differ in: the machine and the place.
            if name == "manifest.json":
                old, new = json.loads(contents), json.loads(files[name])
                assert new["target"] == "wasm32-wasi", new["target"]
                assert {**old, "target": None, "base": None} == {**new, "target": None, "base": None}, system
            elif name == "summary.json":
                assert {**json.loads(contents), "run": None} == {**json.loads(files[name]), "run": None}, system
            elif name == "report.html":
                # The page names the folder, the scenario's place and the machine.
                assert files[name].count(b"<svg") == contents.count(b"<svg") > 0, system
                assert svgs(files[name]) == svgs(contents), system
            else:
                assert files[name] == contents, (system, name)
        # The native program repeats the page's run, from the page's folder.
        copy = page.place / "downloaded" / folder
        for name, contents in files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(contents)
        subprocess.run([str(page.program), "replay", copy], cwd=page.place, capture_output=True, check=True)
        if system == "federated":
            assert f"federated {native['digest']}" in (ROOT / "tests/golden/digests.txt").read_text()
        print(f"{system}: {said}")


def svgs(page):
    """The charts of a report."""
    return [part.split(b"</svg>")[0] for part in page.split(b"<svg")[1:]]


def report(page):
    """The report that is shown is the folder's."""
    browser = page.browser
    browser.open(page.address + "#from=local.ron")
    page.checked()
    page.write(page.browser.run("text.value").replace("replications: 10", "replications: 2"))
    page.play()
    _, files = page.downloaded()
    browser.wait("report.querySelector('iframe:not(.waiting)')", "a report")
    assert browser.run("report.querySelector('iframe').srcdoc").encode() == files["report.html"]
    browser.wait("report.querySelector('iframe').contentDocument.querySelectorAll('svg').length > 0", "its charts")
    # Its links lead to its own sections.
    browser.run("[...report.querySelector('iframe').contentDocument.querySelectorAll('nav a')].at(-1).click()")
    browser.wait("report.querySelector('iframe').contentWindow.scrollY > 500", "the last section is shown")


def errors(page):
    """Errors are those of `check`, with their places, which lead into the text."""
    page.browser.open(page.address + "#from=local.ron")
    page.checked()
    good = page.browser.run("text.value")
    wrong = good.replace("LogNormal(", "LogNormel(", 1).replace("seed: 1,", "seed: -1,")
    assert wrong.count("LogNormel") == 1 and "seed: -1" in wrong
    page.write(wrong)
    place = page.place / "wrong"
    place.mkdir()
    name = page.browser.run("from")
    (place / name).write_text(wrong)
    found = page.native("check", name, cwd=place)["diagnostics"]
    command = [str(page.program), "check", name]
    rendered = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False).stderr
    shown = page.text("#rendered")
    assert shown.strip() and shown.strip() in rendered, (shown, rendered)
    places = page.browser.run("[...places.querySelectorAll('button')].map((button) => button.textContent)")
    assert places == [f"Line {one['line']}, column {one['column']}" for one in found] and places, (places, found)
    for k, one in enumerate(found):
        page.browser.run(f"places.querySelectorAll('button')[{k}].click()")
        before, selected = page.browser.run("[text.value.slice(0, text.selectionStart), text.value.slice(text.selectionStart, text.selectionEnd)]")
        assert (before.count("\n") + 1, len(before) - before.rfind("\n")) == (one["line"], one["column"]), (one, selected)
    assert page.play() == "Not played: the scenario has errors"
    page.write(good)
    (place / name).write_text(good)
    valid = page.native("check", name, cwd=place)
    shown = page.text("#verdict")
    assert shown.startswith(f"Valid: {valid['cells']} cells of {valid['replications']} replications, seed {valid['seed']};"), shown
    assert page.browser.run("problems.hidden")


def links(page):
    """A link holds a scenario: a shipped one by its name, any other whole. A damaged one says so."""
    browser = page.browser
    browser.open(page.address)
    page.checked()
    text = browser.run("text.value").replace("seed: 1,", "seed: 77, // Größe")
    page.write(text)
    browser.click("#link")
    browser.wait("element('address').value.includes('#from=')", "a link")
    address = browser.run("element('address').value")
    assert "&text=" in address and address.startswith(page.address)
    browser.open(address)
    page.checked()
    assert browser.run("text.value") == text
    browser.open(page.address + "#from=scenarios%2Fhospital.ron")
    page.checked()
    assert browser.run("text.value") == (ROOT / "scenarios/hospital.ron").read_text()
    browser.click("#link")
    browser.wait("element('address').value.includes('#from=')", "a link")
    assert "&text=" not in browser.run("element('address').value")
    browser.open(address[: len(address) // 2])
    browser.wait("!trouble.hidden", "a word about the damaged link")
    assert "cut off" in page.text("#trouble")


def stopping(page):
    """The report grows while the run goes on; Stop ends the run at once, and what is finished can be downloaded and continued."""
    browser = page.browser
    browser.open(page.address + "#from=local.ron")
    page.checked()
    page.write(browser.run("text.value").replace("replications: 10", "replications: 600"))
    browser.click("#run")
    browser.wait("report.querySelector('iframe:not(.waiting)')?.contentDocument?.querySelector('#growing')", "a report so far")
    assert browser.run("running && !stopButton.disabled && runButton.disabled")
    line = browser.run("report.querySelector('iframe:not(.waiting)').contentDocument.querySelector('#growing').textContent")
    assert line.startswith("Not final: ") and "1800" in line.replace(",", "").replace(" ", ""), line
    browser.click("#stop")
    browser.wait("!running", "the stop", 5)
    said = page.text("#state")
    assert said.startswith("Stopped after "), said
    folder, files = page.downloaded()
    # A replication of the study is one of each cell; those of the first cell are finished first.
    records = [json.loads(line) for name, contents in files.items() if name.startswith("segments/") for line in contents.splitlines()]
    stored = sum(record["cell"] == 0 for record in records)
    assert stored > 0 and "report.html" not in files
    # With fewer replications the same run goes on: what is stored is not played again.
    page.write(browser.run("text.value").replace("replications: 600", f"replications: {stored}"))
    browser.run("const firsts = []; const seen = new MutationObserver(() => firsts.push(state.textContent)); seen.observe(state, { childList: true })")
    said = page.play()
    digest = said.split()[-1]
    cells = page.native("check", "src/cli/templates/local.ron")["cells"]
    assert said.startswith(f"Finished: {cells * stored} replications"), said
    counts = browser.run("firsts.filter((line) => line.includes(' of ')).map((line) => Number(line.split(' ')[0]))")
    assert counts[0] == sum(record["replication"] < stored for record in records), counts
    # So does the native program, from the folder that was downloaded.
    for name, contents in files.items():
        (page.place / "stopped" / folder / name).parent.mkdir(parents=True, exist_ok=True)
        (page.place / "stopped" / folder / name).write_bytes(contents)
    (page.place / "local.ron").write_text(browser.run("text.value"))
    command = [str(page.program), "run", "local.ron", "--out", "stopped"]
    native = subprocess.run(command, cwd=page.place, capture_output=True, text=True, check=True)
    assert re.search(rf"Resuming: {counts[0]} replications? on disk,", native.stderr), native.stderr
    assert page.native("report", "stopped/" + folder, cwd=page.place)["digest"] == digest


def files(page):
    """A shipped scenario finds its data in the page, another one a file that the user adds."""
    browser = page.browser
    browser.open(page.address + "#from=scenarios%2Fnetwork%2Fdelays.ron")
    page.checked()
    assert page.text("#verdict").startswith("Valid"), page.text("#rendered")
    native = page.native("run", "scenarios/network/delays.ron", "--out", page.place / "delays")
    said = page.play()
    assert said.endswith(native["digest"]), said
    place = page.place / "added"
    (place / "mine").mkdir(parents=True)
    text = (ROOT / "scenarios/network/delays.ron").read_text().replace("data/delays.csv", "mine/measured.csv")
    (place / "scenario.ron").write_text(text)
    (place / "mine/measured.csv").write_bytes((ROOT / "scenarios/network/data/delays.csv").read_bytes())
    browser.open(page.address)
    browser.choose("#choose", [place / "scenario.ron"])
    browser.wait("text.value.includes('measured.csv')", "the chosen scenario")
    page.checked()
    assert "measured.csv" in page.text("#rendered")
    browser.choose("#choose", [place / "mine/measured.csv"])
    browser.wait("own.size === 1", "the added file")
    browser.wait("verdict.textContent.startsWith('Valid')", "the file is found")
    assert page.play().endswith(native["digest"])


def refusals(page):
    """The page says what it cannot do: start a program, play the branches of a fork."""
    page.browser.open(page.address)
    page.write((ROOT / "scenarios/external/shell.ron").read_text())
    assert "cannot start other programs" in page.text("#rendered"), page.text("#rendered")
    assert page.play() == "Not played: the scenario has errors"
    fork = 'fork: Fork(at: Round(2), branches: {"fewer lost": ["network.default.loss=Independent(0.01)"]}),'
    page.write((ROOT / "scenarios/federated.ron").read_text().replace("Scenario(", f"Scenario({fork}", 1))
    assert "fork" in page.text("#verdict"), page.text("#rendered")
    assert page.play() == "Not played"
    assert "has a fork" in page.text("#trouble")


def size(page):
    """The page is below 4 MB compressed, and the first paint does not wait for the program."""
    packed = len(gzip.compress(pathlib.Path(page.address.removeprefix("file://")).read_bytes(), 9))
    assert packed < 4_000_000, packed
    page.browser.open(page.address)
    script = "performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')?.startTime"
    page.browser.wait(script, "a first paint")
    print(f"{packed} bytes compressed, first paint after {page.browser.run(script):.0f} ms")


def narrow(page):
    """Nothing is wider than a phone, and all that can be pressed is reached by Tab."""
    browser = page.browser
    browser.size(390, 844)
    browser.open(page.address)
    page.checked()
    page.play()
    page.write("not a scenario")
    browser.click("#link")
    browser.wait("element('address').value.includes('#from=')", "a link")
    assert browser.run("document.documentElement.scrollWidth") <= 390
    browser.run("element('data').open = true; text.focus()")
    reached = []
    for _ in range(12):
        for kind in ["keyDown", "keyUp"]:
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.append(browser.run("document.activeElement.id || document.activeElement.tagName"))
    assert {"choose", "run", "link"} <= set(reached), reached
    browser.size(1280, 900)


def quiet(page):
    """All the time nothing was loaded from anywhere, and the console said nothing."""
    schemes = {address.split(":")[0] for address in page.browser.asked}
    assert schemes <= {"file", "blob", "data", "about"}, schemes
    files_ = {address.split("#")[0] for address in page.browser.asked if address.startswith("file:")}
    assert files_ == {page.address}, files_
    assert page.browser.told == [], page.browser.told


TESTS = [size, systems, report, errors, links, stopping, files, refusals, narrow, quiet]


def pictures(page, folder):
    """The pictures of docs/playground.md."""
    browser = page.browser
    for width, height in [(1280, 1500), (390, 844)]:
        browser.size(width, height, 2 if width < 600 else 1)
        browser.open(page.address + "#from=outsourced.ron")
        page.checked()
        page.play()
        browser.wait("report.querySelector('iframe:not(.waiting)')", "a report")
        time.sleep(1)
        browser.picture(folder / f"playground-{width}.png")
        if width < 600:
            browser.run("document.querySelector('#result').scrollIntoView()")
            time.sleep(0.5)
            browser.picture(folder / f"playground-{width}-report.png")
            browser.run("scrollTo(0, 0)")
        page.write(browser.run("text.value").replace("LogNormal(", "LogNormel("))
        browser.size(width, 900 if width > 600 else 844, 2 if width < 600 else 1)
        browser.run("scrollTo(0, 0), places.querySelector('button').click()")
        time.sleep(0.5)
        browser.picture(folder / f"playground-{width}-error.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("tests", nargs="*", help="names of tests; all without any")
    parser.add_argument("--pictures", type=pathlib.Path)
    given = parser.parse_args()
    # A process of the browser may still write into its profile while the folder is removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, Browser(place) as browser:
        page = Playground(browser, given.page, given.program.resolve(), pathlib.Path(place))
        if given.pictures:
            pictures(page, given.pictures)
            return
        for test in TESTS:
            if not given.tests or test.__name__ in given.tests:
                test(page)
                print(f"ok: {test.__name__}: {test.__doc__}", flush=True)


if __name__ == "__main__":
    main()
