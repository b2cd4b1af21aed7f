// Answers requests through the WebAssembly module, or through a server: a request a line in, an answer a
// line out.
//
//   node xtask/src/transports.mjs wasm FILE.wasm < requests
//   node xtask/src/transports.mjs http ADDRESS < requests

import { readFileSync } from "node:fs";
import { overWasm } from "./wasm.mjs";

async function overHttp(address) {
  return async (request) => {
    const response = await fetch(new URL("invoke", address), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: request,
    });
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  };
}

const [kind, where] = process.argv.slice(2);
const ask = await (kind === "wasm" ? overWasm(where) : overHttp(where));
const requests = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
for (const request of requests) {
  process.stdout.write(`${await ask(request)}\n`);
}
