import { defineConfig } from "vitest/config";

// Relative addresses and names without hashes: the folder works under any address, and the same
// sources give the same files.
export default defineConfig({
  base: "./",
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
      { test: { name: "unit", include: ["tests/unit/**/*.test.ts"], environment: "node" } },
      {
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
