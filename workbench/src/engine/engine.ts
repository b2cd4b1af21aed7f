/**
 * One engine, two ways to reach it.
 *
 * The engine is `weft-api`: a request as JSON in, its answer as JSON out. On a static host it runs as
 * WebAssembly in a worker; where `weft serve` opened the page it is asked over loopback. Both give
 * the same bytes for the same request, so nothing above this file knows which one answers.
 */

import type { Answer, AnyRequest, Fault } from "./requests";
import { Wanted } from "./wanted";

/** A way to ask the engine. */
export interface Transport {
  readonly name: "wasm" | "http";
  /** The answer to a request, or to an array of requests, as JSON texts; the work for it ends where it is unwanted. */
  invoke(request: string, unwanted?: AbortSignal): Promise<string>;
}

/** The engine did not answer the question: it says what is wrong with it. */
export class Refusal extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "Refusal";
    this.fault = fault;
  }
}

/** A request whose answer somebody waits for. */
interface Waiting {
  request: string;
  /** Aborted once nobody waits any more. */
  unwanted: AbortSignal;
  done(answer: object): void;
  failed(error: unknown): void;
}

/** How many answers are kept: turning back to an earlier state asks nothing. */
const KEPT = 256;
/** The longest answers that are kept. */
const MAX_KEPT_LENGTH = 1 << 20;
/** How long the engine may take for an answer that nobody wants any more, in milliseconds: what is nearly there costs less
 * than another worker. */
const GRACE = 40;
/** The most requests of an array: with more, the engine expects it to take long. */
const TOGETHER = 32;
/** After how many turns of waiting code nobody asks more: whoever gets an answer that is kept asks on in a few. */
const TURNS = 16;
/** What takes long, and so goes alone unless it is asked together with others: they would wait for it, and several are answered at once. */
const LONG: ReadonlySet<AnyRequest["request"]> = new Set(["compile", "explain", "run", "sweep"]);
/** How many requests that take long are worth asking at once; `weft serve` answers one more. */
export const atOnce = (): number => Math.min(3, navigator.hardwareConcurrency);

export class Engine {
  readonly #transport: Transport;
  readonly #another: () => Transport;
  readonly #idle: Transport[] = [];
  readonly #kept = new Map<string, Promise<object>>();
  /** Who wants what is on its way. */
  readonly #wanted = new Map<string, Wanted>();
  /** What was asked in the task that runs, to be sent in one go at its end. */
  readonly #gathered: Waiting[] = [];
  #pending = 0;
  /** Told when the page begins to wait for answers, and when all are there and have been used. */
  onbusy: (busy: boolean) => void = () => undefined;

  /**
   * @param transport answers what the page waits for
   * @param another makes one that answers what takes long, one request at a time
   */
  constructor(transport: Transport, another: () => Transport = () => transport) {
    this.#transport = transport;
    this.#another = another;
  }

  get transport(): Transport["name"] {
    return this.#transport.name;
  }

  /**
   * Answers a request; throws a {@link Refusal} where the engine refuses it. The same request may give the
   * same object again: an answer is not to be changed. What is unwanted before it is there ends, and throws the
   * reason, unless others wait for it.
   */
  async invoke<R extends AnyRequest>(request: R, unwanted?: AbortSignal): Promise<Answer<R>> {
    return this.#waited(request, unwanted);
  }

  /** @param together where what is not known yet waits for others to be sent with it */
  async #waited<R extends AnyRequest>(request: R, unwanted?: AbortSignal, together?: Waiting[]): Promise<Answer<R>> {
    unwanted?.throwIfAborted();
    if (this.#pending++ === 0) this.onbusy(true);
    try {
      const answer = this.#remembered(request, together);
      this.#wanted.get(JSON.stringify(request))?.add(unwanted);
      return unwrapped(await answer);
    } finally {
      // Whoever waited goes first, and may ask again.
      setTimeout(() => {
        if (--this.#pending === 0) this.onbusy(false);
      });
    }
  }

  /** The same for several that nobody can use alone, in one go even where they take long: what each gives, or why it gives nothing. */
  async together<const R extends readonly AnyRequest[]>(
    requests: R,
    unwanted?: AbortSignal,
  ): Promise<{ [K in keyof R]: PromiseSettledResult<Answer<R[K]>> }> {
    const waiting: Waiting[] = [];
    const answers = requests.map((request) => this.#waited(request, unwanted, waiting));
    if (waiting.length > 0) this.#send(waiting);
    return (await Promise.allSettled(answers)) as { [K in keyof R]: PromiseSettledResult<Answer<R[K]>> };
  }

  /** The same for requests that take long: they do not hold up the others, and are not kept. */
  async invokeAside<R extends AnyRequest>(request: R, unwanted?: AbortSignal): Promise<Answer<R>> {
    const transport = this.#idle.pop() ?? this.#another();
    try {
      return unwrapped(JSON.parse(await transport.invoke(JSON.stringify(request), unwanted)) as object);
    } finally {
      this.#idle.push(transport);
    }
  }

  #remembered(asked: AnyRequest, together?: Waiting[]): Promise<object> {
    const request = JSON.stringify(asked);
    const known = this.#kept.get(request);
    if (known) return known;
    const wanted = new Wanted();
    this.#wanted.set(request, wanted);
    const settle = () => this.#wanted.get(request) === wanted && this.#wanted.delete(request);
    const answer = new Promise<object>((done, failed) => {
      const { unwanted } = wanted;
      unwanted.addEventListener("abort", () => {
        if (settle()) this.#kept.delete(request);
        failed(unwanted.reason);
      });
      const waiting = { request, unwanted, done, failed };
      if (together) return void together.push(waiting);
      if (LONG.has(asked.request)) return this.#send([waiting]);
      if (this.#gathered.push(waiting) === 1) void this.#gather();
    });
    this.#kept.set(request, answer);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
    answer.then(settle, () => settle() && this.#kept.delete(request));
    return answer;
  }

  /** Sends what was gathered, once nobody asks more: before the browser draws, which takes as long as an answer. */
  async #gather(): Promise<void> {
    let known = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      if (this.#gathered.length > known) [known, turn] = [this.#gathered.length, 0];
      await undefined;
    }
    const all = this.#gathered.splice(0).filter(({ unwanted }) => !unwanted.aborted);
    while (all.length > 0) this.#send(all.splice(0, TOGETHER));
  }

  /** Several requests are one array, and one answer; all of them end where none is wanted. */
  #send(all: Waiting[]): void {
    const requests = all.map(({ request }) => request);
    const text = requests.length === 1 ? requests[0]! : `[${requests.join()}]`;
    const together = new Wanted();
    for (const { unwanted } of all) together.add(unwanted);
    const answered = this.#transport.invoke(text, together.unwanted).then((text) => {
      if (text.length > MAX_KEPT_LENGTH) for (const request of requests) this.#kept.delete(request);
      const answer = JSON.parse(text) as object | object[];
      for (const [index, { done }] of all.entries()) done((Array.isArray(answer) ? answer[index] : answer) as object);
    });
    answered.catch((error: unknown) => all.forEach(({ failed }) => failed(error)));
  }
}

/** An answer, unless it is a refusal. */
function unwrapped<T>(told: object): T {
  const answer = told as T & { error?: Fault };
  if (answer.error) throw new Refusal(answer.error);
  return answer;
}

/** The engine of this page: `engine.json` beside it says how it is reached. */
export async function connect(base: URL): Promise<Engine> {
  const response = await fetch(new URL("engine.json", base));
  const { transport } = (await response.json()) as { transport: Transport["name"] };
  if (transport === "http") return new Engine(overLoopback(new URL("invoke", base)));
  return new Engine(inWorker(base), () => inWorker(base));
}

/** Asks the program that serves the page. */
export function overLoopback(address: URL): Transport {
  return {
    name: "http",
    async invoke(request, unwanted) {
      let response: Response;
      try {
        response = await fetch(address, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: request,
          // A connection that is closed ends the work.
          signal: unwanted ?? null,
        });
      } catch {
        unwanted?.throwIfAborted();
        throw new Error("`weft serve` does not answer: has it been stopped?");
      }
      if (!response.ok) throw new Error(await response.text());
      return response.text();
    },
  };
}

/** What the worker is sent, and what it sends back. */
export interface Asked {
  id: number;
  request: string;
}
export type Told = { id: number; answer: string } | { id: number; failure: string };

/** Runs the engine in a worker of its own, and in another one where what it computes is unwanted. */
export function inWorker(base: URL): Transport {
  const waiting = new Map<number, { request: string; done(text: string): void; failed(error: Error): void }>();
  let next = 0;
  let worker = start();

  function start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.postMessage({ engine: new URL("engine/", base).href });
    worker.onmessage = ({ data }: MessageEvent<Told>) => {
      const who = waiting.get(data.id);
      waiting.delete(data.id);
      if ("answer" in data) who?.done(data.answer);
      else who?.failed(new Error(data.failure));
    };
    worker.onerror = (event) => {
      for (const { failed } of waiting.values()) failed(new Error(event.message));
      waiting.clear();
    };
    return worker;
  }

  /** Ends what the worker computes; another one answers what is still wanted. */
  function startAgain(): void {
    worker.terminate();
    worker = start();
    for (const [id, { request }] of waiting) worker.postMessage({ id, request } satisfies Asked);
  }

  return {
    name: "wasm",
    invoke(request, unwanted) {
      const id = next++;
      return new Promise((done, failed) => {
        waiting.set(id, { request, done, failed });
        worker.postMessage({ id, request } satisfies Asked);
        const leave = () => {
          failed(unwanted?.reason as Error);
          // Requests that are unwanted together are ended together.
          setTimeout(() => waiting.delete(id) && startAgain(), GRACE);
        };
        unwanted?.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
