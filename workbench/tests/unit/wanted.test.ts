/** What is no longer wanted ends, and what somebody still wants does not. */

import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine";
import type { Transport } from "../../src/engine/engine";
import type { CompileRequest } from "../../src/engine/requests";
import { latest } from "../../src/ui/dom";

/** An engine that answers when it is told to, and what it was asked. */
function engine() {
  const asked: { request: string; unwanted: AbortSignal | undefined; answer(): void }[] = [];
  const transport: Transport = {
    name: "http",
    invoke: (request, unwanted) =>
      new Promise((done, failed) => {
        unwanted?.addEventListener("abort", () => failed(unwanted.reason));
        const answer = JSON.stringify(Array.isArray(JSON.parse(request)) ? [{}, {}] : {});
        asked.push({ request, unwanted, answer: () => done(answer) });
      }),
  };
  return { engine: new Engine(transport), asked };
}

/** What goes alone, and at once. */
const request: CompileRequest = { request: "compile", ttir: "", emit: ["ptx"] };
const ended = (wanted: Promise<unknown>) => wanted.then(() => "answered", (error: Error) => error.name);

test("a request ends once nobody wants it, and is asked again", async () => {
  const { engine: asking, asked } = engine();
  const [one, other] = [new AbortController(), new AbortController()];
  const answers = [asking.invoke(request, one.signal), asking.invoke(request, other.signal)].map(ended);
  expect(asked.length).toBe(1);
  one.abort();
  expect(asked[0]?.unwanted?.aborted).toBe(false);
  other.abort();
  expect(asked[0]?.unwanted?.aborted).toBe(true);
  const again = ended(asking.invoke(request));
  expect(await Promise.all(answers)).toEqual(["AbortError", "AbortError"]);
  expect(asked.length).toBe(2);
  asked[1]?.answer();
  expect(await again).toBe("answered");
});

test("an answer that is there stays, whoever leaves", async () => {
  const { engine: asking, asked } = engine();
  const one = new AbortController();
  const answer = asking.invoke(request, one.signal);
  asked[0]?.answer();
  await answer;
  one.abort();
  expect(await ended(asking.invoke(request))).toBe("answered");
  expect(asked.length).toBe(1);
});

test("what goes together ends once nobody wants any of it", async () => {
  const { engine: asking, asked } = engine();
  const both = (name: string) => {
    const leavers = [new AbortController(), new AbortController()];
    const target = (index: number) => `${name}${index}`;
    return { leavers, answers: leavers.map(({ signal }, index) => ended(asking.invoke({ request: "machines", target: target(index) }, signal))) };
  };
  const one = both("one");
  await expect.poll(() => asked.length).toBe(1);
  one.leavers[0]?.abort();
  expect(await one.answers[0]).toBe("AbortError");
  expect(asked[0]?.unwanted?.aborted).toBe(false);
  asked[0]?.answer();
  expect(await one.answers[1]).toBe("answered");
  const other = both("other");
  await expect.poll(() => asked.length).toBe(2);
  for (const leaver of other.leavers) leaver.abort();
  expect(asked[1]?.unwanted?.aborted).toBe(true);
  expect(await Promise.all(other.answers)).toEqual(["AbortError", "AbortError"]);
  // What is unwanted before it is sent is not sent.
  const last = both("last");
  for (const leaver of last.leavers) leaver.abort();
  expect(await Promise.all(last.answers)).toEqual(["AbortError", "AbortError"]);
  expect(asked.length).toBe(2);
});

test("a task ends when the next begins, but for what both ask", async () => {
  const { engine: asking, asked } = engine();
  const ask = latest();
  const told: string[] = [];
  const task = (name: string, target: string) =>
    ask(async (current) => {
      const shared = asking.invoke(request, current.unwanted);
      await ended(asking.invoke({ ...request, target }, current.unwanted));
      await ended(shared);
      if (current()) told.push(name);
    });
  task("one", "sm_80");
  task("other", "sm_90");
  expect(asked.map(({ request, unwanted }) => [JSON.parse(request).target, unwanted?.aborted])).toEqual([[undefined, false], ["sm_80", true], ["sm_90", false]]);
  for (const { answer } of asked) answer();
  await expect.poll(() => told).toEqual(["other"]);
});
