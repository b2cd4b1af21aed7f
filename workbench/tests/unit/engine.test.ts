import { expect, test } from "vitest";
import { Engine, Refusal } from "../../src/engine/engine";
import type { AnyRequest } from "../../src/engine/requests";

/** A transport that answers each request by what it is about, and what it was asked. */
function engine(answer = (request: { target?: string }): object => ({ machines: [], about: request.target })) {
  const asked: string[] = [];
  const made = new Engine({
    name: "http",
    async invoke(text) {
      asked.push(text);
      const request = JSON.parse(text) as { target?: string } | { target?: string }[];
      return JSON.stringify(Array.isArray(request) ? request.map(answer) : answer(request));
    },
  });
  return { made, asked };
}

const machine = (target: string): AnyRequest => ({ request: "machines", target });
const about = async (answer: Promise<object>) => ((await answer) as { about?: string }).about;

test("what is asked in one go is one array, and everybody gets the answer to the own request", async () => {
  const { made, asked } = engine();
  const first = [made.invoke(machine("a")), made.invoke(machine("b")), made.invoke(machine("a"))];
  const later = Promise.resolve().then(() => made.invoke(machine("c")));
  expect(await Promise.all([...first, later].map(about))).toEqual(["a", "b", "a", "c"]);
  expect(asked).toEqual([JSON.stringify(["a", "b", "c"].map(machine))]);
});

test("one request goes as it is, and is not asked again", async () => {
  const { made, asked } = engine();
  expect(await about(made.invoke(machine("a")))).toBe("a");
  expect(await about(made.invoke(machine("a")))).toBe("a");
  expect(asked).toEqual([JSON.stringify(machine("a"))]);
});

test("what takes long holds up nobody", async () => {
  const { made, asked } = engine();
  await Promise.all([made.invoke(machine("a")), made.invoke({ request: "explain", ttir: "" }), made.invoke(machine("b"))]);
  expect(asked.map((text) => [JSON.parse(text)].flat().length).sort()).toEqual([1, 2]);
  expect(asked.find((text) => text.includes("explain"))).toBe('{"request":"explain","ttir":""}');
});

test("an error is that of its request alone", async () => {
  const { made } = engine(({ target }) => (target === "bad" ? { error: { kind: "target", message: "no such machine" } } : { about: target }));
  const answers = await Promise.allSettled(["a", "bad", "c"].map((target) => about(made.invoke(machine(target)))));
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((answers[1] as PromiseRejectedResult).reason).toBeInstanceOf(Refusal);
});

test("an array that is refused as one is refused to each of those who asked", async () => {
  const made = new Engine({ name: "http", invoke: async () => '{"error": {"kind": "limit", "message": "too much"}}' });
  const answers = await Promise.allSettled(["a", "b"].map((target) => made.invoke(machine(target))));
  expect(answers.map((answer) => answer.status === "rejected" && String(answer.reason))).toEqual(["Refusal: too much", "Refusal: too much"]);
});

test("more than go into an array go into several, and what fails is asked again", async () => {
  let fails = true;
  const asked: number[] = [];
  const made = new Engine({
    name: "http",
    async invoke(text) {
      const requests = [JSON.parse(text) as AnyRequest | AnyRequest[]].flat();
      asked.push(requests.length);
      if (fails) throw new Error("nobody answers");
      return JSON.stringify(requests.length === 1 ? {} : requests.map(() => ({})));
    },
  });
  const all = () => Promise.allSettled(Array.from({ length: 33 }, (_, index) => made.invoke(machine(String(index)))));
  expect((await all()).every(({ status }) => status === "rejected")).toBe(true);
  fails = false;
  expect((await all()).every(({ status }) => status === "fulfilled")).toBe(true);
  expect(asked).toEqual([32, 1, 32, 1]);
});
