// The page: an editor, whose text is checked while it is typed, and a run in a worker with its report.
"use strict";
const element = (id) => document.getElementById(id);
const [pick, text, numbers, verdict, problems, places, rendered, added] =
  ["pick", "text", "numbers", "verdict", "problems", "places", "rendered", "added"].map(element);
const [runButton, stopButton, download, apart, progress, state, trouble, report] =
  ["run", "stop", "download", "apart", "progress", "state", "trouble", "report"].map(element);

/** Templates of `subrosa new`, and their names on this page. */
const TEMPLATES = [["outsourced.ron", "Outsourced search"], ["local.ron", "Local differential privacy"],
  ["release.ron", "Private release"], ["federated.ron", "Federated optimisation"]];
/** Path of a text that is none of the shipped scenarios. */
const OWN = "scenario.ron";
/** Folder of the run folders. */
const RUNS = "runs";

// ---- The files that are part of the page ----

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
const nodeOf = (path) => document.querySelector(`script[data-path="${CSS.escape(path)}"]`);
/** A file that is part of the page, as bytes. Large files stand behind this script and may not be loaded yet. */
const embedded = async (path) => {
  if (!nodeOf(path)?.nextElementSibling) await loaded;
  const node = nodeOf(path);
  return node ? through(bytesOf(node.textContent.trim()), new DecompressionStream("gzip")) : undefined;
};
const embeddedText = async (path) => {
  const bytes = await embedded(path);
  return bytes && new TextDecoder().decode(bytes);
};
const loaded = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve);
  else resolve();
});
const paths = () => [...document.querySelectorAll("script[data-path]")].map((node) => node.dataset.path);

/** The program, compiled once. */
let compiled;
const program = () => (compiled ??= embedded("program.wasm").then((bytes) => WebAssembly.compile(bytes)));
let workerSource;

/** A worker that does one task at a time. */
class Tasks {
  constructor() {
    this.number = 0;
  }

  /** Runs the program; `said` gets each message but the last. Returns the last message, or an object with `failed`; undefined
   * if the task was stopped. */
  do(words, files, said = () => {}) {
    const task = ++this.number;
    return new Promise((resolve) => {
      this.end = () => resolve(undefined);
      const begin = (module) => {
        // The task may have been stopped while the program was compiled.
        if (task !== this.number) return;
        workerSource ??= URL.createObjectURL(new Blob([element("worker").textContent], { type: "text/javascript" }));
        this.worker ??= new Worker(workerSource);
        this.worker.onmessage = ({ data }) => {
          if (data.task !== task) return;
          if (data.kind === "done") resolve(data);
          else said(data);
        };
        this.worker.onerror = (event) => resolve({ failed: event.message || "the worker could not be started" });
        this.worker.postMessage({ module, words, files, task });
      };
      program().then(begin, (error) => resolve({ failed: `this browser cannot load the program: ${error}` }));
    });
  }

  /** Ends a task at once. */
  stop() {
    this.number++;
    this.worker?.terminate();
    this.worker = undefined;
    this.end?.();
  }
}
const checking = new Tasks(), playing = new Tasks(), packing = new Tasks();

// ---- The scenario and its files ----

/** Path of the shipped scenario from which the text was made, or `OWN`. Paths in the text are relative to its folder. */
let from = TEMPLATES[0][0];
/** Files that the user added: name and bytes. */
const own = new Map();

const folderOf = (path) => path.split("/").slice(0, -1).join("/");
const resolved = (folder, path) => {
  const parts = [];
  for (const part of [...folder.split("/"), ...path.split("/")]) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
};
/** The text and the files that it names, each with its path. An added file takes precedence over a file of the page. */
const scenarioFiles = async () => {
  await loaded;
  const files = [[from, new TextEncoder().encode(text.value)]];
  const shipped = new Set(paths());
  const folder = folderOf(from);
  for (const [, named] of text.value.matchAll(/"([^"\n]{1,400})"/g)) {
    const path = resolved(folder, named);
    const mine = own.get(named.split("/").pop());
    if (mine) files.push([path, mine.slice()]);
    else if (path !== from && !path.endsWith(".ron") && shipped.has(path)) files.push([path, await embedded(path)]);
  }
  return files;
};

const fillPicker = () => {
  const group = (label, options) => {
    const node = document.createElement("optgroup");
    node.label = label;
    node.append(...options.map(([value, name]) => new Option(name, value)));
    return node;
  };
  const groups = new Map();
  for (const path of paths().filter((path) => path.startsWith("scenarios/") && path.endsWith(".ron"))) {
    const folder = folderOf(path);
    if (!groups.has(folder)) groups.set(folder, []);
    groups.get(folder).push([path, path.slice(folder.length + 1)]);
  }
  pick.replaceChildren(new Option("A text of your own", OWN), group("Templates", TEMPLATES),
    ...[...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, options]) => group(folder, options)));
  pick.value = from;
};

const show = (value, path) => {
  from = path ?? OWN;
  text.value = value;
  pick.value = from;
  text.scrollTop = 0;
  changed();
};
const showShipped = async (path) => {
  const before = wanted, value = await embeddedText(path);
  // Text that was typed in the meantime stays.
  if (value !== undefined && wanted === before) show(value, path);
  return value !== undefined;
};

// ---- The check while typing ----

let wanted = 0, checkedUpTo = 0, waiting, wrongLines = new Set();
const number = () => {
  const lines = text.value.split("\n").length;
  numbers.replaceChildren(...Array.from({ length: lines }, (_, k) => {
    const node = document.createElement(wrongLines.has(k + 1) ? "b" : "span");
    node.textContent = `${k + 1}\n`;
    return node;
  }));
  numbers.scrollTop = text.scrollTop;
};
const changed = () => {
  wanted++;
  number();
  clearTimeout(waiting);
  waiting = setTimeout(check, 150);
};
const duration = (seconds) => (seconds < 1 ? "less than 1 s" : seconds < 100 ? `${Math.round(seconds)} s`
  : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const goTo = (line, column) => {
  const lines = text.value.split("\n");
  // Columns count characters, positions in a text area UTF-16 units.
  const within = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  const at = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + within;
  text.focus();
  text.setSelectionRange(at, at + Math.max(1, /^[\w.]*/.exec(text.value.slice(at))[0].length));
  text.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(text).lineHeight));
};
const showProblems = (found) => {
  wrongLines = new Set((found?.problems ?? []).map((problem) => problem.line));
  problems.hidden = !found;
  rendered.textContent = found?.text ?? "";
  places.replaceChildren(...(found?.problems ?? []).filter((problem) => problem.line).map((problem) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = `Line ${problem.line}, column ${problem.column}`;
    button.title = problem.message;
    button.addEventListener("click", () => goTo(problem.line, problem.column));
    item.append(button);
    return item;
  }));
  number();
};
const verdictOf = (found) => {
  verdict.classList.toggle("wrong", found.kind !== "valid");
  showProblems(found.kind === "refused" ? found : undefined);
  if (found.kind === "refused") verdict.textContent = plural(found.problems.length, "error");
  else if (found.kind === "valid") {
    verdict.textContent = `Valid: ${plural(found.cells, "cell")} of ${plural(found.replications, "replication")}, seed ${found.seed}; `
      + `estimated to take the native program ${duration(found.seconds)} on one thread, and this page longer.`
      + (found.fork ? " It has a fork, which only the command `subrosa run` plays." : "");
  } else verdict.textContent = found.text;
};
const check = async () => {
  if (check.busy) return;
  check.busy = true;
  while (checkedUpTo !== wanted) {
    const version = wanted;
    let found;
    const ended = await checking.do(["check", from], await scenarioFiles(), (said) => (found = said));
    checkedUpTo = version;
    if (version === wanted) verdictOf(found ?? { kind: "failed", text: ended?.failed ?? "" });
  }
  check.busy = false;
};

// ---- The run ----

/** Path and files of the run folder, as they were posted last. A run of the same scenario continues from them. */
let kept = { folder: undefined, files: [] };
/** The report that is shown, as text. */
let html;
let running = false, begun;

const showReport = (page) => {
  html = page;
  apart.disabled = false;
  const old = report.querySelector("iframe:not(.waiting)");
  for (const late of report.querySelectorAll("iframe.waiting")) late.remove();
  const frame = document.createElement("iframe");
  frame.title = "Report";
  frame.className = "waiting";
  frame.addEventListener("load", () => {
    // The report keeps its scroll position.
    const at = old?.contentWindow?.scrollY ?? 0;
    frame.classList.remove("waiting");
    frame.contentWindow.scrollTo(0, at);
    old?.remove();
    // A link within the report would otherwise lead to this page, whose address its frame has.
    frame.contentDocument.addEventListener("click", (event) => {
      const id = event.target.closest?.('a[href^="#"]')?.getAttribute("href").slice(1);
      if (id === undefined) return;
      event.preventDefault();
      frame.contentDocument.getElementById(id)?.scrollIntoView();
    });
  });
  frame.srcdoc = page;
  report.append(frame);
};
const sayTrouble = (words) => {
  trouble.hidden = !words;
  trouble.textContent = words ?? "";
};
const enable = () => {
  runButton.disabled = running;
  stopButton.disabled = !running;
  download.disabled = running || kept.files.length === 0;
};
const run = async () => {
  if (running) return;
  running = true;
  enable();
  element("result").hidden = false;
  sayTrouble();
  progress.removeAttribute("value");
  // A screen reader announces how a run ends, not every replication.
  state.setAttribute("aria-live", "off");
  state.textContent = "Starting";
  begun = performance.now();
  let finished = 0, total = 0, ended, troubles = [];
  const said = (message) => {
    if (message.folder) {
      kept = { folder: message.folder, files: message.files };
      showReport(message.html);
    }
    if (message.kind === "progress") {
      ({ finished, total } = message);
      progress.max = total;
      progress.value = finished;
      state.textContent = `${finished} of ${plural(total, "replication")} finished, ${duration((performance.now() - begun) / 1000)}`;
    } else if (message.kind === "failure") {
      troubles.push(message.text);
    } else if (message.kind === "refused") {
      verdictOf(message);
    } else if (message.kind === "end") {
      ended = message;
    }
  };
  const files = [...(await scenarioFiles()), ...kept.files.map(([path, bytes]) => [path, bytes.slice()])];
  const done = await playing.do(["run", from, RUNS], files, said);
  const took = duration((performance.now() - begun) / 1000);
  running = false;
  enable();
  state.setAttribute("aria-live", "polite");
  if (!done) {
    progress.value = finished;
    state.textContent = finished === 0 ? "Stopped before the first replication was finished"
      : `Stopped after ${finished} of ${plural(total, "replication")}. Press Run to continue from the replications that the report shows.`;
  } else if (ended) {
    for (const spent of ended.budget_spent) troubles.push(`${spent.series}: ${spent.reason}`);
    progress.value = progress.max;
    state.textContent = `${ended.complete ? "Finished" : "Ended with failures"}: ${plural(total, "replication")}, ${took}, digest ${ended.digest}`;
  } else {
    progress.value = 0;
    state.textContent = done.failed ? "Not played" : "Not played: the scenario has errors";
    if (done.failed) troubles.push(done.failed);
  }
  sayTrouble(troubles.join("\n"));
};
const save = (bytes, type, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
const saveFolder = async () => {
  const done = await packing.do(["pack", kept.folder, "archive.tar"], kept.files.map(([path, bytes]) => [path, bytes.slice()]));
  if (!done?.archive) return sayTrouble(done?.failed ?? "The run folder could not be packed.");
  const name = kept.folder.split("/").pop();
  save(await through(done.archive, new CompressionStream("gzip")), "application/gzip", `${name}.tar.gz`);
};

// ---- Links: the scenario in the fragment ----

const base64url = (bytes) => {
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};
const fragment = async () => {
  const fields = new URLSearchParams({ from });
  if ((await embeddedText(from)) !== text.value) {
    const packed = await through(new TextEncoder().encode(text.value), new CompressionStream("deflate-raw"));
    fields.set("text", base64url(packed));
  }
  return `#${fields}`;
};
const readFragment = async () => {
  const fields = new URLSearchParams(location.hash.slice(1));
  const shipped = fields.get("from") ?? OWN;
  const packed = fields.get("text");
  if (packed === null) return fields.has("from") && showShipped(shipped);
  try {
    const bytes = bytesOf(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const value = new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw")));
    show(value, resolved("", shipped) || OWN);
    return true;
  } catch {
    element("result").hidden = false;
    sayTrouble("The address of this page holds no scenario that can be read: it may have been cut off when it was copied.");
    return false;
  }
};
const link = async () => {
  const address = location.href.split("#")[0] + (await fragment());
  location.hash = new URL(address).hash;
  element("linked").hidden = false;
  element("address").value = location.href;
  element("address").select();
  await navigator.clipboard?.writeText(location.href).then(() => (element("link").textContent = "Link copied"), () => {});
  setTimeout(() => (element("link").textContent = "Link to this scenario"), 2000);
};

// ---- Files of the user ----

const listAdded = () => {
  added.replaceChildren(...[...own].map(([name, bytes]) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${name}`);
    button.addEventListener("click", () => {
      own.delete(name);
      listAdded();
      changed();
    });
    item.append(`${name}, ${plural(bytes.length, "byte")}`, button);
    return item;
  }));
};
const add = async (list) => {
  for (const file of list) {
    if (/\.(ron|json)$/i.test(file.name)) {
      show(await file.text());
    } else {
      own.set(file.name, new Uint8Array(await file.arrayBuffer()));
      element("data").open = true;
    }
  }
  listAdded();
  changed();
};

// ---- What the reader does ----

text.addEventListener("input", changed);
text.addEventListener("scroll", () => (numbers.scrollTop = text.scrollTop));
pick.addEventListener("change", () => showShipped(pick.value));
runButton.addEventListener("click", run);
stopButton.addEventListener("click", () => playing.stop());
element("link").addEventListener("click", link);
element("address").addEventListener("focus", (event) => event.target.select());
element("choose").addEventListener("change", (event) => add(event.target.files));
download.addEventListener("click", saveFolder);
apart.addEventListener("click", () => open(URL.createObjectURL(new Blob([html], { type: "text/html" })), "_blank"));
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    run();
  }
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  add(event.dataTransfer.files);
});
addEventListener("hashchange", async () => {
  if (location.hash.length > 1 && location.hash !== (await fragment())) await readFragment();
});
addEventListener("beforeunload", (event) => {
  if (running) event.preventDefault();
});
addEventListener("unhandledrejection", ({ reason }) => {
  element("result").hidden = false;
  sayTrouble(`This page failed, or the browser is too old for it: ${reason}`);
});
number();
fillPicker();
readFragment().then((shown) => shown || showShipped(from));
