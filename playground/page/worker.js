// Does one task after the other: runs the program on the files that the page posts, and posts what the program prints. To stop
// a task, the page ends the worker.
"use strict";

/** Folder of the run folders. */
const RUNS = "runs";

self.addEventListener("message", ({ data: { module, words, files: given, task } }) => {
  const files = new Files();
  for (const [path, bytes] of given) files.write(path, bytes);
  const errors = [];
  const line = (text, stream) => {
    if (stream === 2) {
      errors.push(text);
      return;
    }
    const said = JSON.parse(text);
    // A report is posted together with the files that the run folder has at this moment.
    if (said.page) said.html = new TextDecoder().decode(files.read(said.page));
    if (said.folder) said.files = files.below(said.folder);
    self.postMessage({ task, ...said }, (said.files ?? []).map(([, bytes]) => bytes.buffer));
  };
  let failed;
  try {
    const code = runProgram(module, ["subrosa-playground", ...words], files, line);
    if (code !== 0) failed = errors.join("\n") || `The program ended with code ${code}.`;
  } catch (thrown) {
    // A panic has printed its text. For any other end (too little memory, too deep a stack), `thrown` says what happened.
    const panic = errors.join("\n");
    failed = `a bug in subrosa, or too little memory: ${panic ? `${panic}\n` : ""}${thrown}`;
  }
  const archive = words[0] === "pack" && !failed ? files.read(words[2]) : undefined;
  self.postMessage({ task, kind: "done", failed, archive }, archive ? [archive.buffer] : []);
});
