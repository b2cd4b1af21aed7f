/**
 * The page and Chromium, for tests, screenshots and measurements.
 *
 * `weft serve` shows the page and answers it, or with `WEFT_ENGINE=wasm` a static folder with the engine
 * as WebAssembly in it (`workbench/build --wasm`).
 */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

/** The folder of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The command: `WEFT` names it where it is not the repository's own debug build. */
export const weft = process.env["WEFT"] ?? `${process.env["CARGO_TARGET_DIR"] ?? `${root}/target`}/debug/weft`;

/** The system's Chromium: `CHROMIUM` names it where it has another place. */
export const browserPath =
  process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export interface Served {
  address: string;
  stop(): void;
}

/** How the page reaches its engine here. */
export const engine = process.env["WEFT_ENGINE"] === "wasm" ? "wasm" : "http";

/** The page as `workbench/build` makes it. */
export const dist = `${root}/workbench/dist`;

/**
 * Starts a server at a free port.
 *
 * With `WEFT_PAGE` the files come from that folder instead of the command: a page that was just built
 * is tried without building the command again.
 */
export async function serve(): Promise<Served> {
  if (engine === "wasm") return serveFolder(process.env["WEFT_PAGE"] ?? dist);
  const command = await serveCommand();
  const folder = process.env["WEFT_PAGE"];
  return folder ? serveFolder(folder, command) : command;
}

const KINDS: Record<string, string> = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm",
};

/** A static folder; where a command stands behind it, that answers requests. */
export async function serveFolder(folder: string, command?: Served): Promise<Served> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    try {
      if (command && (path === "/invoke" || path === "/engine.json")) {
        const body: Buffer[] = [];
        for await (const part of request) body.push(part as Buffer);
        const asked = { method: request.method ?? "GET", ...(body.length > 0 ? { body: Buffer.concat(body) } : {}) };
        // Whoever leaves here leaves there.
        const left = new AbortController();
        response.on("close", () => left.abort());
        const answer = await fetch(new URL(path, command.address), { ...asked, signal: left.signal });
        response.end(Buffer.from(await answer.arrayBuffer()));
        return;
      }
      const name = normalize(path === "/" ? "/index.html" : path);
      const file = await readFile(join(folder, name));
      response.setHeader("content-type", KINDS[extname(name)] ?? "application/octet-stream");
      response.end(file);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
    command?.stop();
  };
  return { address: `http://127.0.0.1:${port}/`, stop };
}

/** `weft serve` at a free port. */
export async function serveCommand(): Promise<Served> {
  const child: ChildProcess = spawn(weft, ["serve", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const address = await new Promise<string>((done, failed) => {
    child.once("error", failed);
    child.once("exit", (status) => failed(new Error(`${weft} serve ended with ${status}`)));
    child.stdout?.once("data", (line: Buffer) => done(line.toString().trim()));
  });
  return { address, stop: () => void child.kill() };
}

export async function launch(): Promise<Browser> {
  if (!browserPath) throw new Error("Chromium is not installed; CHROMIUM may name it");
  return chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** A page that collects what it complains about. */
export async function open(
  browser: Browser,
  address: string,
  options: { width?: number; height?: number; dark?: boolean; touch?: boolean } = {},
): Promise<{ page: Page; complaints: string[] }> {
  const { width = 1440, height = 1000, dark = false, touch = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    hasTouch: touch,
    isMobile: touch,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => {
    // What a page still asks for when it is left or read again, the browser ends itself.
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()} failed: ${why}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(address).origin && !/^(data|blob):/.test(request.url())) {
      complaints.push(`${request.url()} is asked, which is not the page's own`);
    }
  });
  await page.goto(address);
  await settled(page);
  return { page, complaints };
}

/** Waits until everything that was asked is answered and shown. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main:not([aria-busy="true"])');
}
