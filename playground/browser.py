"""A headless Chromium that a test drives: the DevTools protocol over a pipe, with nothing but Python."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


def program():
    """The first browser on this machine, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One window. `told` has what its console said, and `asked` the addresses that it loaded or tried to load."""

    def __init__(self, home):
        browser_in, self.to = os.pipe()
        self.back, browser_out = os.pipe()

        def pipes():
            # Chromium reads from file descriptor 3 and writes to 4. Moving one of them must not close the other.
            spare_in, spare_out = os.dup2(browser_in, 103), os.dup2(browser_out, 104)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"]
        command = [program(), *flags, "--remote-debugging-pipe", f"--user-data-dir={home}/profile", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(browser_in)
        os.close(browser_out)
        self.number, self.buffer, self.session = 0, b"", None
        self.told, self.asked, self.target, self.metrics = [], [], None, None
        self.folder = os.path.join(home, "downloads")
        os.makedirs(self.folder, exist_ok=True)
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder, eventsEnabled=False)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, until):
        """The next message of the browser, or None."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], max(0, until - time.monotonic()))
            if not ready:
                return None
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Stores the contents of events."""
        method, of = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.told.append(json.dumps(of["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.told.append(json.dumps(of["args"]))
        elif method == "Log.entryAdded":
            self.told.append(f"{of['entry']['text']} {of['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.asked.append(of["request"]["url"])

    def call(self, method, **parameters):
        """One call of the protocol, and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 120
        while (answer := self.receive(until)) is not None:
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]
        raise RuntimeError(f"{method}: no answer")

    def open(self, address):
        """Opens an address in a new tab in place of the old one, and waits until it is loaded."""
        old, self.session = self.target, None
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        if old:
            self.call("Target.closeTarget", targetId=old)
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")
        if self.metrics:
            self.call("Emulation.setDeviceMetricsOverride", **self.metrics)
        self.call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'", "the page is loaded")

    def run(self, script):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, what, seconds=120):
        """Waits until an expression is true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.run(f"Boolean({script})"):
                return
            time.sleep(0.05)
        raise AssertionError(f"waited {seconds} s in vain: {what}")

    def click(self, selector):
        """Clicks on an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def choose(self, selector, files):
        """Chooses files in a file input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def size(self, width, height, scale=1):
        """Gives the window a size, and those that are opened later."""
        self.metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
        if self.session:
            self.call("Emulation.setDeviceMetricsOverride", **self.metrics)

    def picture(self, path):
        """Writes a picture of what the window shows."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
