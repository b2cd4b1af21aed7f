/** The engine as WebAssembly, away from the page's own thread. */

import type { Asked, Told } from "./engine";

/** What wasm-bindgen makes of `weft-wasm`. */
interface Module {
  default(options: { module_or_path: Promise<Response> }): Promise<unknown>;
  invoke(request: string): string;
}

let engine: Promise<Module> | undefined;

async function load(folder: string): Promise<Module> {
  // Both are on their way at once.
  const bytes = fetch(new URL("weft_wasm_bg.wasm", folder));
  const module = (await import(/* @vite-ignore */ new URL("weft_wasm.js", folder).href)) as Module;
  await module.default({ module_or_path: bytes });
  return module;
}

self.onmessage = async ({ data }: MessageEvent<Asked | { engine: string }>) => {
  if ("engine" in data) {
    engine = load(data.engine);
    // Whoever asks first is told; nobody may ask for a while.
    engine.catch(() => undefined);
    return;
  }
  const { id, request } = data;
  let told: Told;
  try {
    if (!engine) throw new Error("nobody said where the engine is");
    told = { id, answer: (await engine).invoke(request) };
  } catch (error) {
    told = { id, failure: `the engine does not run: ${error instanceof Error ? error.message : error}` };
  }
  self.postMessage(told);
};
