import { readFile } from "node:fs/promises";
import { defineConfig } from "vitest/config";

/** `kernels.py?functions=a,b`: the text of these functions of a file, at their own lines, the others empty. */
const functions = {
  name: "functions",
  async load(id: string) {
    const [, file, names] = /^(.*\.py)\?functions=([\w,]+)$/.exec(id) ?? [];
    if (file === undefined || names === undefined) return undefined;
    const wanted = names.split(",");
    let [shown, waiting] = [false, 0];
    const lines: string[] = [];
    for (const line of (await readFile(file, "utf8")).split("\n")) {
      // Decorators stand before the name is known.
      waiting = line.startsWith("@") ? waiting + 1 : waiting;
      const name = /^def (\w+)/.exec(line)?.[1];
      if (name !== undefined) {
        shown = wanted.includes(name);
        if (shown) for (let up = 1; up <= waiting; up++) lines[lines.length - up] = "@triton.jit";
        waiting = 0;
      } else if (/^[^\s)]/.test(line)) shown = false;
      lines.push(shown ? line : "");
    }
    return `export default ${JSON.stringify(lines.join("\n").trimEnd())}`;
  },
};

// Relative addresses and names without hashes: the folder works under any address, and the same
// sources give the same files.
export default defineConfig({
  base: "./",
  plugins: [functions],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      output: {
        entryFileNames: "workbench.js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
  worker: {
    format: "es",
    rolldownOptions: { output: { entryFileNames: "[name].js" } },
  },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["tests/unit/**/*.test.ts"], environment: "node" } },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["tests/browser/**/*.test.ts"],
          environment: "node",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // A second, the default, is less than an engine without optimisation may take on a busy machine.
          expect: { poll: { timeout: 60_000 } },
          // One browser and one server for all.
          fileParallelism: false,
        },
      },
    ],
  },
});
