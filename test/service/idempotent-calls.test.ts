import { afterEach, describe, expect, test } from "@jest/globals";
import { notFound, RigbridgeError } from "../../src/contract/problems.ts";
import type { Caller, CallName } from "../../src/contract/service.ts";
import { IdempotentCalls } from "../../src/service/idempotent-calls.ts";
import { MayBeStored, type Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { folders } from "../store/folder.ts";

const folder = folders();
const clock = stoppedClock();
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

interface Asking {
  readonly name?: CallName;
  readonly input?: object;
  readonly userId?: number;
  readonly key?: string;
}

/** The calls of a service; `restarted` are those of its next run. */
async function open() {
  const store = await openStore({ file: ":memory:", now: clock.now });
  stores.push(store);
  let calls = new IdempotentCalls(store.idempotency);
  let replays = 0;
  /** Counts what was done. */
  let done = 0;
  const ask = (work: () => unknown, { name = "savePool", input = { id: 0 }, userId, key = "k" }: Asking = {}) => {
    const replayed = () => {
      replays += 1;
    };
    const caller: Caller = { actor: "test", userId, idempotency: { key, replayed } };
    return calls.once(name, input, caller, async () => {
      done += 1;
      return work();
    });
  };
  return {
    store,
    ask,
    counts: () => ({ done, replays }),
    restart: () => {
      calls = new IdempotentCalls(store.idempotency);
    },
  };
}

const first = () => ({ id: 1, note: undefined });
const second = () => ({ id: 2 });

describe("a repeat with the same key", () => {
  test("gets the first answer for 24 h, also from the next run, and nothing is done again", async () => {
    const { ask, counts, restart } = await open();
    await ask(first);
    expect(await ask(second)).toEqual({ id: 1 });
    restart();
    clock.pass(86_399);
    expect(await ask(second)).toEqual({ id: 1 });
    expect(counts()).toEqual({ done: 1, replays: 2 });
    clock.pass(1);
    expect(await ask(second)).toEqual({ id: 2 });
    expect(counts()).toEqual({ done: 2, replays: 2 });
  });

  test("does nothing again if the first may have been stored by a database that went away, unless it only starts a command", async () => {
    const { ask, counts, store } = await open();
    const lost = async () => {
      await store.keptValues.save("stored", 1, 0);
      throw new MayBeStored(new RigbridgeError("service.store-away", "The store cannot be reached."));
    };
    expect(await refusal(ask(lost))).toBe("service.store-away");
    expect(await refusal(ask(second))).toBe("idempotency.unknown");
    expect(counts()).toEqual({ done: 1, replays: 1 });
    const unsent = () => {
      throw new MayBeStored(new RigbridgeError("service.store-away", "The store cannot be reached."));
    };
    // Its row, which the database does not have, would be bound to the key.
    expect(await refusal(ask(unsent, { name: "minerAction", key: "other" }))).toBe("service.store-away");
    expect(await ask(second, { name: "minerAction", key: "other" })).toEqual({ id: 2 });
  });

  test("gets the first answer from the next process, too", async () => {
    const file = `${folder()}/a.db`;
    const of = { caller: "user 1", key: "k" };
    const first = await openStore({ file, now: clock.now });
    await first.idempotency.begin(of, "request");
    await first.idempotency.end(of, "request", "answer");
    await first.close();
    const second = await openStore({ file, now: clock.now });
    stores.push(second);
    expect(await second.idempotency.find(of)).toMatchObject({ request: "request", answer: "answer" });
    expect(await second.idempotency.find({ ...of, caller: "user 2" })).toBeUndefined();
  });

  test("gets a list as it was", async () => {
    const { ask } = await open();
    await ask(() => [{ id: 1 }]);
    expect(await ask(second)).toEqual([{ id: 1 }]);
  });

  test("waits for the first while it is running", async () => {
    const { ask, counts } = await open();
    const { promise, resolve } = Promise.withResolvers<object>();
    const both = [ask(() => promise), ask(second)];
    expect(await refusal(ask(second, { input: { id: 7 } }))).toBe("idempotency.reused");
    resolve({ id: 1 });
    expect(await Promise.all(both)).toEqual([{ id: 1 }, { id: 1 }]);
    expect(counts()).toEqual({ done: 1, replays: 1 });
  });

  test("is refused for another input or operation, and independent for another user", async () => {
    const { ask, counts } = await open();
    await ask(first);
    expect(await refusal(ask(second, { input: { id: 7 } }))).toBe("idempotency.reused");
    expect(await refusal(ask(second, { name: "deletePool" }))).toBe("idempotency.reused");
    expect(await ask(second, { userId: 1 })).toEqual({ id: 2 });
    expect(await ask(() => ({ id: 3 }), { userId: 2 })).toEqual({ id: 3 });
    expect(counts()).toEqual({ done: 3, replays: 0 });
  });
});

describe("an error", () => {
  const lost = new RigbridgeError("rig.timeout", "The rig did not answer", {
    errors: [{ path: "id", message: "is slow" }],
    coded: { code: "x", values: {} },
  });

  test("of a request that may have done something is answered again", async () => {
    const { ask, counts, restart } = await open();
    const fail = () => {
      throw lost;
    };
    await problem(ask(fail));
    restart();
    const { code, message, errors, coded } = await problem(ask(second));
    expect({ code, message, errors, coded }).toEqual({
      code: lost.code,
      message: lost.message,
      errors: lost.errors,
      coded: lost.coded,
    });
    expect(counts()).toEqual({ done: 1, replays: 1 });
  });

  test.each([notFound("pool", 1), new RigbridgeError("store.full", "full"), new RigbridgeError("too.many", "wait")])(
    "that refuses a request is not kept: %s",
    async (error) => {
      const { ask, counts } = await open();
      await problem(
        ask(() => {
          throw error;
        }),
      );
      expect(await ask(second)).toEqual({ id: 2 });
      expect(counts()).toEqual({ done: 2, replays: 0 });
    },
  );

  test("of an action that has a command is kept, whatever it is", async () => {
    const { ask, store } = await open();
    const asking = { name: "minerAction", userId: 4 } as const;
    const fail = async () => {
      const command = { minerId: 5, minerName: "", actor: "", action: "stop", parameters: {} };
      await store.commands.add(command, { caller: "user 4", key: "k" });
      throw new RigbridgeError("rig.other", "Another rig");
    };
    expect(await refusal(ask(fail, asking))).toBe("rig.other");
    expect(await refusal(ask(second, asking))).toBe("rig.other");
  });

  test("of the service itself leaves the outcome unknown", async () => {
    const { ask } = await open();
    const fault = () => {
      throw new TypeError("a fault");
    };
    await expect(ask(fault)).rejects.toThrow("a fault");
    expect(await refusal(ask(second))).toBe("idempotency.unknown");
  });
});

test("an answer with a secret, or a very long one, is not kept, and the repeat says that it was done", async () => {
  const { ask, store } = await open();
  await ask(() => ({ id: 1, plainWorkerPassword: "worker-secret" }));
  const { code, message } = await problem(ask(second));
  expect(code).toBe("idempotency.not-kept");
  expect(message).toMatch(/was done.*it contains a secret/);
  expect((await store.idempotency.find({ caller: "service", key: "k" }))?.answer).not.toContain("worker-secret");
  await ask(() => ({ id: 1, description: "x".repeat(256_000) }), { key: "long" });
  expect((await problem(ask(second, { key: "long" }))).message).toContain("it is too long");
});

describe("after the service has stopped before it answered", () => {
  const never = () => new Promise(() => undefined);

  test("the outcome is unknown, and nothing is done again", async () => {
    const { ask, counts, restart } = await open();
    void ask(never);
    await expect(ask(second, { key: "other" })).resolves.toEqual({ id: 2 });
    restart();
    expect(await refusal(ask(second))).toBe("idempotency.unknown");
    expect(counts()).toEqual({ done: 2, replays: 1 });
  });

  test("an action that has no command yet is done now", async () => {
    const { ask, restart } = await open();
    void ask(never, { name: "minerAction" });
    await ask(second, { key: "other" });
    restart();
    expect(await ask(second, { name: "minerAction" })).toEqual({ id: 2 });
  });
});

test("the newest 10,000 keys of each caller are kept", async () => {
  const { ask, store } = await open();
  await ask(first, { userId: 1 });
  await ask(first, { key: "oldest" });
  for (let count = 0; count < 10_100; count += 1)
    await store.idempotency.begin({ caller: "service", key: `${count}` }, "");
  expect(await ask(second, { key: "oldest" })).toEqual({ id: 2 });
  expect(await ask(second, { userId: 1 })).toEqual({ id: 1 });
  expect(await store.idempotency.find({ caller: "service", key: "10099" })).toBeDefined();
});
