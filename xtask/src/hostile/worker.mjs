// Answers requests, one a line, through the WebAssembly module, and says what became of each.
//
//   node xtask/src/hostile/worker.mjs FILE.wasm

import { createInterface } from "node:readline";
import { overWasm } from "../wasm.mjs";

const invoke = await overWasm(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const [, request] = JSON.parse(line);
  const answer = JSON.parse(invoke(request));
  process.stdout.write(`${answer.error ? (answer.error.kind ?? "no kind") : "answer"}\n`);
}
