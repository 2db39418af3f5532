// WASI (preview 1) for a program whose files are in memory: a tree of folders, standard output and error by line, the clock and
// random numbers. Functions that it lacks (sockets, symbolic links, other processes) answer that they are not supported.
"use strict";

/** Files and folders in memory. */
class Files {
  constructor() {
    this.root = { entries: new Map() };
  }

  /** The parts of a path, without `.` and `..`. */
  static parts(path) {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts;
  }

  /** The node at a path that begins at a folder; undefined if there is none. */
  find(path, folder = this.root) {
    return Files.parts(path).reduce((node, part) => node?.entries?.get(part), folder);
  }

  /** The folder that holds the last part of a path (undefined if there is none), and this part. */
  place(path, folder = this.root) {
    const parts = Files.parts(path);
    const name = parts.pop();
    return [parts.reduce((node, part) => node?.entries?.get(part), folder), name];
  }

  /** Writes a whole file, and makes its folders. */
  write(path, bytes) {
    const parts = Files.parts(path);
    const name = parts.pop();
    let node = this.root;
    for (const part of parts) {
      if (!node.entries.has(part)) node.entries.set(part, { entries: new Map() });
      node = node.entries.get(part);
    }
    node.entries.set(name, { bytes, size: bytes.length });
  }

  /** The bytes of a file; undefined if there is none. */
  read(path) {
    const node = this.find(path);
    return node?.bytes?.slice(0, node.size);
  }

  /** All files below a folder: pairs of path and bytes. */
  below(path) {
    const found = [];
    const walk = (node, at) => {
      for (const [name, child] of node?.entries ?? []) {
        if (child.entries) walk(child, `${at}/${name}`);
        else found.push([`${at}/${name}`, child.bytes.slice(0, child.size)]);
      }
    };
    walk(this.find(path), Files.parts(path).join("/"));
    return found;
  }
}

/** Thrown by `proc_exit` to end the program. */
class Exit {
  constructor(code) {
    this.code = code;
  }
}

const ERRNO = { SUCCESS: 0, BADF: 8, EXIST: 20, INVAL: 28, ISDIR: 31, NOENT: 44, NOSYS: 52, NOTDIR: 54, NOTEMPTY: 55 };
const FOLDER = 3, FILE = 4, TERMINAL = 2;

/** Runs a compiled program to its end. `line(text, stream)` gets each line that it prints, to stream 1 or 2. Returns its exit code. */
function runProgram(module, words, files, line) {
  let memory;
  const text = new TextEncoder(), decoders = { 1: new TextDecoder(), 2: new TextDecoder() }, partial = { 1: "", 2: "" };
  // The open file descriptors; 3 is the root folder.
  const open = new Map([0, 1, 2].map((number) => [number, { stream: number }]));
  open.set(3, { node: files.root, at: 0 });
  let next = 4;
  const inodes = new WeakMap();
  let lastInode = 1n;
  const inode = (node) => {
    if (!inodes.has(node)) inodes.set(node, lastInode++);
    return inodes.get(node);
  };
  const view = () => new DataView(memory.buffer);
  const bytesAt = (pointer, length) => new Uint8Array(memory.buffer, pointer, length);
  const textAt = (pointer, length) => new TextDecoder().decode(bytesAt(pointer, length));
  // A path begins at an open folder.
  const find = (fd, pointer, length) => files.find(textAt(pointer, length), open.get(fd)?.node);
  const place = (fd, pointer, length) => files.place(textAt(pointer, length), open.get(fd)?.node);
  const buffers = (pointer, count) =>
    Array.from({ length: count }, (_, k) =>
      bytesAt(view().getUint32(pointer + 8 * k, true), view().getUint32(pointer + 8 * k + 4, true)));
  const resize = (node, size) => {
    if (size > node.bytes.length) {
      const grown = new Uint8Array(Math.max(size, 2 * node.bytes.length, 256));
      grown.set(node.bytes.subarray(0, node.size));
      node.bytes = grown;
    } else if (size < node.size) {
      node.bytes.fill(0, size, node.size);
    }
    node.size = size;
  };
  const put = (node, at, bytes) => {
    if (at + bytes.length > node.size) resize(node, at + bytes.length);
    node.bytes.set(bytes, at);
  };
  const print = (stream, bytes) => {
    const lines = (partial[stream] + decoders[stream].decode(bytes, { stream: true })).split("\n");
    partial[stream] = lines.pop();
    for (const whole of lines) line(whole, stream);
  };
  const list = (texts) => texts.map((word) => text.encode(word + "\0"));
  const given = list(words);
  const stat = (pointer, node, type) => {
    const to = view();
    bytesAt(pointer, 64).fill(0);
    to.setBigUint64(pointer + 8, node ? inode(node) : 0n, true);
    to.setUint8(pointer + 16, type);
    to.setBigUint64(pointer + 24, 1n, true);
    to.setBigUint64(pointer + 32, BigInt(node?.size ?? 0), true);
  };
  const typeOf = (node) => (node.entries ? FOLDER : FILE);
  const removed = (fd, pointer, length, want) => {
    const [folder, name] = place(fd, pointer, length);
    const node = folder?.entries?.get(name);
    if (!node) return ERRNO.NOENT;
    if (want === FILE && node.entries) return ERRNO.ISDIR;
    if (want === FOLDER && !node.entries) return ERRNO.NOTDIR;
    if (want === FOLDER && node.entries.size > 0) return ERRNO.NOTEMPTY;
    folder.entries.delete(name);
    return ERRNO.SUCCESS;
  };
  const read = (file, at, pointer, count) => {
    let total = 0;
    for (const buffer of buffers(pointer, count)) {
      const part = file.node.bytes.subarray(at + total, Math.min(file.node.size, at + total + buffer.length));
      if (at + total < file.node.size) {
        buffer.set(part);
        total += part.length;
      }
    }
    return total;
  };

  const wasi = {
    args_sizes_get(count, size) {
      view().setUint32(count, given.length, true);
      view().setUint32(size, given.reduce((sum, word) => sum + word.length, 0), true);
      return ERRNO.SUCCESS;
    },
    args_get(pointers, bytes) {
      for (const word of given) {
        view().setUint32(pointers, bytes, true);
        bytesAt(bytes, word.length).set(word);
        pointers += 4;
        bytes += word.length;
      }
      return ERRNO.SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return ERRNO.SUCCESS;
    },
    environ_get: () => ERRNO.SUCCESS,
    clock_time_get(clock, _precision, pointer) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(pointer, BigInt(Math.round(milliseconds * 1e6)), true);
      return ERRNO.SUCCESS;
    },
    random_get(pointer, length) {
      // At most 65536 bytes at once.
      for (let at = 0; at < length; at += 65536) {
        crypto.getRandomValues(bytesAt(pointer + at, Math.min(65536, length - at)));
      }
      return ERRNO.SUCCESS;
    },
    sched_yield: () => ERRNO.SUCCESS,
    proc_exit(code) {
      throw new Exit(code);
    },
    fd_prestat_get(fd, pointer) {
      if (fd !== 3) return ERRNO.BADF;
      view().setUint32(pointer, 0, true);
      view().setUint32(pointer + 4, 1, true);
      return ERRNO.SUCCESS;
    },
    fd_prestat_dir_name(fd, pointer, length) {
      if (fd !== 3 || length < 1) return ERRNO.BADF;
      bytesAt(pointer, 1)[0] = "/".charCodeAt(0);
      return ERRNO.SUCCESS;
    },
    fd_fdstat_get(fd, pointer) {
      const file = open.get(fd);
      if (!file) return ERRNO.BADF;
      bytesAt(pointer, 24).fill(0);
      view().setUint8(pointer, file.node ? typeOf(file.node) : TERMINAL);
      view().setUint16(pointer + 2, file.append ? 1 : 0, true);
      view().setBigUint64(pointer + 8, ~0n, true);
      view().setBigUint64(pointer + 16, ~0n, true);
      return ERRNO.SUCCESS;
    },
    fd_filestat_get(fd, pointer) {
      const file = open.get(fd);
      if (!file) return ERRNO.BADF;
      stat(pointer, file.node, file.node ? typeOf(file.node) : TERMINAL);
      return ERRNO.SUCCESS;
    },
    fd_filestat_set_size(fd, size) {
      const file = open.get(fd);
      if (!file?.node?.bytes) return ERRNO.BADF;
      resize(file.node, Number(size));
      return ERRNO.SUCCESS;
    },
    fd_sync: (fd) => (open.has(fd) ? ERRNO.SUCCESS : ERRNO.BADF),
    fd_datasync: (fd) => (open.has(fd) ? ERRNO.SUCCESS : ERRNO.BADF),
    fd_close: (fd) => (open.delete(fd) ? ERRNO.SUCCESS : ERRNO.BADF),
    fd_seek(fd, offset, whence, pointer) {
      const file = open.get(fd);
      if (!file?.node?.bytes) return ERRNO.BADF;
      const at = Number(offset) + [0, file.at, file.node.size][whence];
      if (at < 0) return ERRNO.INVAL;
      file.at = at;
      view().setBigUint64(pointer, BigInt(at), true);
      return ERRNO.SUCCESS;
    },
    fd_tell: (fd, pointer) => wasi.fd_seek(fd, 0n, 1, pointer),
    fd_write(fd, pointer, count, written) {
      const file = open.get(fd);
      if (!file) return ERRNO.BADF;
      if (file.node?.entries) return ERRNO.ISDIR;
      let total = 0;
      for (const buffer of buffers(pointer, count)) {
        if (file.node) {
          if (file.append) file.at = file.node.size;
          put(file.node, file.at, buffer);
          file.at += buffer.length;
        } else {
          print(file.stream, buffer);
        }
        total += buffer.length;
      }
      view().setUint32(written, total, true);
      return ERRNO.SUCCESS;
    },
    fd_read(fd, pointer, count, pointerRead) {
      const file = open.get(fd);
      if (!file) return ERRNO.BADF;
      if (file.node?.entries) return ERRNO.ISDIR;
      // Standard input is empty.
      const total = file.node ? read(file, file.at, pointer, count) : 0;
      if (file.node) file.at += total;
      view().setUint32(pointerRead, total, true);
      return ERRNO.SUCCESS;
    },
    fd_pread(fd, pointer, count, at, pointerRead) {
      const file = open.get(fd);
      if (!file?.node?.bytes) return ERRNO.BADF;
      view().setUint32(pointerRead, read(file, Number(at), pointer, count), true);
      return ERRNO.SUCCESS;
    },
    fd_readdir(fd, pointer, length, cookie, pointerUsed) {
      const file = open.get(fd);
      if (!file?.node?.entries) return ERRNO.NOTDIR;
      // The names as they were when the first of these calls began: entries may be removed between two calls.
      if (cookie === 0n) file.names = [...file.node.entries];
      let used = 0;
      for (let k = Number(cookie); k < (file.names ?? []).length && used < length; k++) {
        const [name, node] = file.names[k];
        const bytes = text.encode(name);
        const entry = new Uint8Array(24 + bytes.length);
        const to = new DataView(entry.buffer);
        to.setBigUint64(0, BigInt(k + 1), true);
        to.setBigUint64(8, inode(node), true);
        to.setUint32(16, bytes.length, true);
        to.setUint8(20, typeOf(node));
        entry.set(bytes, 24);
        const part = entry.subarray(0, length - used);
        bytesAt(pointer + used, part.length).set(part);
        used += part.length;
      }
      view().setUint32(pointerUsed, used, true);
      return ERRNO.SUCCESS;
    },
    path_open(fd, _lookup, pointer, length, how, _rights, _inherited, flags, pointerFd) {
      const [create, folderOnly, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      let node = find(fd, pointer, length);
      if (node && create && exclusive) return ERRNO.EXIST;
      if (node && folderOnly && !node.entries) return ERRNO.NOTDIR;
      if (!node) {
        if (!create) return ERRNO.NOENT;
        const [folder, name] = place(fd, pointer, length);
        if (!folder) return ERRNO.NOENT;
        if (!folder.entries) return ERRNO.NOTDIR;
        node = { bytes: new Uint8Array(256), size: 0 };
        folder.entries.set(name, node);
      }
      if (truncate && node.bytes) resize(node, 0);
      open.set(next, { node, at: 0, append: (flags & 1) !== 0 });
      view().setUint32(pointerFd, next++, true);
      return ERRNO.SUCCESS;
    },
    path_filestat_get(fd, _lookup, pointer, length, pointerStat) {
      const node = find(fd, pointer, length);
      if (!node) return ERRNO.NOENT;
      stat(pointerStat, node, typeOf(node));
      return ERRNO.SUCCESS;
    },
    path_create_directory(fd, pointer, length) {
      const [folder, name] = place(fd, pointer, length);
      if (name === undefined || folder?.entries?.has(name)) return ERRNO.EXIST;
      if (!folder) return ERRNO.NOENT;
      if (!folder.entries) return ERRNO.NOTDIR;
      folder.entries.set(name, { entries: new Map() });
      return ERRNO.SUCCESS;
    },
    path_remove_directory: (fd, pointer, length) => removed(fd, pointer, length, FOLDER),
    path_unlink_file: (fd, pointer, length) => removed(fd, pointer, length, FILE),
    path_link(from, _lookup, pointer, length, to, pointerTo, lengthTo) {
      const node = find(from, pointer, length);
      const [folder, name] = place(to, pointerTo, lengthTo);
      if (!node || !folder?.entries) return ERRNO.NOENT;
      if (folder.entries.has(name)) return ERRNO.EXIST;
      folder.entries.set(name, node);
      return ERRNO.SUCCESS;
    },
    path_rename(from, pointer, length, to, pointerTo, lengthTo) {
      const [folder, name] = place(from, pointer, length);
      const [folderTo, nameTo] = place(to, pointerTo, lengthTo);
      const node = folder?.entries?.get(name);
      if (!node || !folderTo?.entries) return ERRNO.NOENT;
      folder.entries.delete(name);
      folderTo.entries.set(nameTo, node);
      return ERRNO.SUCCESS;
    },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = wasi[name] ?? (() => ERRNO.NOSYS);
  }
  const instance = new WebAssembly.Instance(module, imports);
  memory = instance.exports.memory;
  let code = 0;
  try {
    instance.exports._start();
  } catch (thrown) {
    if (!(thrown instanceof Exit)) throw thrown;
    code = thrown.code;
  } finally {
    for (const stream of [1, 2]) if (partial[stream]) line(partial[stream], stream);
  }
  return code;
}
