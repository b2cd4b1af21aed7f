// Answers requests, one a line, through the WebAssembly module, and says what became of each.
//
//   node xtask/src/hostile/worker.mjs FILE.wasm

import { createInterface } from "node:readline";
import { overWasm } from "../wasm.mjs";

const rank = (kind) => ({ defect: 0, "no kind": 0, answer: 2 })[kind] ?? 1;
// Of several answers the worst.
const kind = (answer) =>
  Array.isArray(answer)
    ? answer.map(kind).reduce((worst, next) => (rank(next) < rank(worst) ? next : worst), "answer")
    : answer.error
      ? (answer.error.kind ?? "no kind")
      : "answer";

const invoke = await overWasm(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const [, request] = JSON.parse(line);
  process.stdout.write(`${kind(JSON.parse(invoke(request)))}\n`);
}
