// The engine as a WebAssembly module, under Node: a request in, an answer out.
//
// The module is the one that cargo builds. What `wasm-bindgen` would make of it for a page is not needed
// for one function on texts: bytes are put into its memory and read from there.

import { readFileSync } from "node:fs";

export async function overWasm(path) {
  const refused = (name) => () => {
    throw new Error(`the module calls ${name}`);
  };
  const module = await WebAssembly.compile(readFileSync(path));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    // The clock is all that it may ask for.
    (imports[from] ??= {})[name] = /^__wbg_now_/.test(name) ? () => Date.now() : refused(name);
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  // Before `wasm-bindgen` has seen it, a function's name ends with a hash.
  const name = Object.keys(exports).find((name) => /^invoke(_[0-9a-f]{16})?$/.test(name));
  if (name === undefined) throw new Error("the module exports no `invoke`");
  const invoke = exports[name];
  // Two words: where the answer's text is, and how many bytes it has.
  const answer = exports.__wbindgen_malloc(8, 4);
  return (request) => {
    const bytes = new TextEncoder().encode(request);
    const text = exports.__wbindgen_malloc(bytes.length, 1);
    new Uint8Array(exports.memory.buffer, text, bytes.length).set(bytes);
    invoke(answer, text, bytes.length);
    const [start, length] = new Uint32Array(exports.memory.buffer, answer, 2);
    const told = Buffer.from(exports.memory.buffer, start, length).toString("utf8");
    exports.__wbindgen_free(start, length, 1);
    return told;
  };
}
