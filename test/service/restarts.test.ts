import { afterEach, describe, expect, test } from "@jest/globals";
import { changePool } from "../../src/service/commands/steps.ts";
import type { RigSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { type Specimen, specimens } from "../docs/specimens.ts";
import { problem } from "../errors.ts";
import { until } from "../until.ts";
import { openBench } from "./bench.ts";
import { axeos, cgminer, closeAll, steered } from "./command-bench.ts";

afterEach(closeAll);

const restartable = specimens.filter(({ rigs }) => !["Antminer without its login"].includes(rigs));

describe("a restart", () => {
  // One service for all of them: starting one takes longer than the restarts.
  test("of every kind of rig is sent when the rig took it, and done when the rig shows it", async () => {
    const bench = await openBench({
      rigs: restartable.map(({ spec }) => ({ ...spec, warm: true, restartSeconds: 1 })),
    });
    const restarts = async ({ rigs }: Specimen, rig: SimulatedRig, id: number, keys: string[]): Promise<void> => {
      for (const key of keys) {
        const name = `${key} of ${rigs}`;
        // It has been up for an hour again.
        rig.model.startedAt -= 3_600_000;
        const { startedAt } = rig.model;
        const reply = await bench.act(id, { action: "set", property: key, value: "true" });
        expect({ name, ...reply }).toMatchObject({ name, success: true, state: "sent", taken: true });
        const row = async () => (await bench.commands(id)).find((command) => command.id === reply.commandId);
        expect({ name, ...(await row()) }).toMatchObject({ name, state: "sent", message: reply.message });
        await until(async () => (await row())?.state !== "sent", `the ${name} to show`);
        expect({ name, ...(await row()) }).toMatchObject({ name, state: "done", message: reply.message });
        expect([name, rig.model.startedAt > startedAt]).toEqual([name, true]);
        expect([name, await bench.get(id)]).toMatchObject([name, { isOffline: false }]);
      }
    };
    const all: (() => Promise<void>)[] = [];
    for (const [index, specimen] of restartable.entries()) {
      const rig = bench.rig(index);
      const id = await bench.add(rig.address, { driver: specimen.driver, ...specimen.credentials });
      const { controls } = await bench.get(id);
      const keys = controls.flatMap((each) => (each.kind === "trigger" && each.restartsMining ? [each.key] : []));
      if (keys.length > 0) all.push(() => restarts(specimen, rig, id, keys));
    }
    expect(all.length).toBeGreaterThan(15);
    await Promise.all(all.map((run) => run()));
  });

  test("of a rig that never comes back ends unknown; until then it is Starting", async () => {
    const gone: RigSpec = { ...axeos, restartSeconds: 3_600 };
    const { miner, set, status, row, poll } = await steered(
      { requestMs: 9_000, answerMs: 2_000, changeMs: 4_000 },
      200,
      gone,
    );
    await poll();
    expect(await set("reboot", "true")).toMatchObject({ state: "sent", taken: true });
    await until(() => miner.state.reading === null, "three reads to be missed");
    expect(status()).toBe("Starting");
    await until(async () => (await row())?.state !== "sent", "the command to be given up");
    expect(await row()).toMatchObject({
      state: "unknown",
      message: expect.stringContaining("was not seen to restart"),
    });
  });

  test.each(["close", "reset", "truncated", "empty-object", "garbage", "http-500"] as const)(
    "is named as the reason while the rig cannot be set: %s",
    async (fault) => {
      const { rig, set, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 4_000 });
      await poll();
      rig.model.restart = () => undefined;
      expect(await set("reboot", "true")).toMatchObject({ state: "sent", taken: true });
      rig.fault = fault;
      expect(await problem(set("frequency", "490"))).toMatchObject({
        code: "rig.unreachable",
        message: expect.stringContaining("is restarting and does not answer yet"),
      });
    },
  );

  test("that does not happen ends unknown, and keeps no later command waiting", async () => {
    const { rig, store, set, row, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 1_500 });
    await poll();
    rig.model.restart = () => undefined;
    const { commandId } = await set("reboot", "true");
    expect(await set("frequency", "490")).toMatchObject({ state: "done" });
    expect(await store.commands.get(commandId ?? 0)).toMatchObject({ state: "sent" });
    const ended = async () => (await store.commands.get(commandId ?? 0))?.state !== "sent";
    await until(ended, "the reboot to be given up");
    expect(await store.commands.get(commandId ?? 0)).toMatchObject({ state: "unknown" });
    expect(await row()).toMatchObject({ state: "done" });
  });

  test("is unknown when the service stops before it shows", async () => {
    const gone: RigSpec = { ...axeos, restartSeconds: 3_600 };
    const { store, executor, set } = await steered(
      { requestMs: 9_000, answerMs: 2_000, changeMs: 9_000 },
      3_600_000,
      gone,
    );
    const { commandId = 0 } = await set("reboot", "true");
    await executor.close();
    expect(await store.commands.get(commandId)).toMatchObject({
      state: "unknown",
      message: expect.stringContaining("The service stopped"),
    });
  });
});

describe("a change to a pool that stays dead", () => {
  const worker = "acct.rig";
  const urlOf = (name: string) => `stratum+tcp://${name}.example.com:3333`;
  const url = urlOf("two");
  const pools = ["one", "two"].map((name) => ({ url: urlOf(name), user: worker }));

  test("says so", async () => {
    const spec: RigSpec = { ...cgminer, pools };
    const { rig, run, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 500 }, 3_600_000, spec);
    await poll();
    rig.model.setPoolAlive(1, false);
    const login = { url, worker, password: "x" };
    const reply = await run(...changePool(login, []));
    expect(reply).toMatchObject({ state: "done", message: expect.stringContaining(`${url} as dead`) });
    rig.model.setPoolAlive(1, true);
    expect((await run(...changePool(login, []))).message).not.toContain("dead");
  });
});
