import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { z } from "zod";
import { RuleSettings } from "../../src/contract/rules.ts";
import { ruleRow } from "../../src/service/automation/rule-rows.ts";
import { openStore } from "../any-store.ts";
import { type Running, running } from "../cli/command.ts";
import { folders } from "../store/folder.ts";
import { miner } from "../store/rows.ts";
import { until } from "../until.ts";

// depends on: src/**

const folder = folders();
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const fifty = "x".repeat(50);
const chain = (times: number): string => `"${fifty}"${`.split("").map(x, "${fifty}").join("")`.repeat(times)} == "a"`;
const rule = (times: number) => ({
  key: `chain-${times}`,
  when: { all: [{ offline: true }], where: chain(times) },
  do: [{ action: "restart" }],
});

const Rules = z.object({ rules: z.array(z.object({ key: z.string(), problem: z.string().nullable() })) });
const Runs = z.object({ runs: z.array(z.object({ message: z.string() })) });
const Notifications = z.object({ notificationList: z.array(z.object({ message: z.string() })) });

async function served(data: string, ...options: string[]) {
  const process: Running = await running(["serve", "--data", data, "--port", "0", ...options], ready);
  const url = ready.exec(process.said())?.[1] ?? "";
  const ask = async (method: string, path: string, body?: object) => {
    const given =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await fetch(`${url}${path}`, { method, ...given });
    const text = await answer.text();
    return { status: answer.status, json: text === "" ? null : (JSON.parse(text) as unknown), text };
  };
  const stop = async (): Promise<void> => {
    process.signal("SIGTERM");
    expect((await process.ended).code).toBe(0);
  };
  return { ask, stop, said: () => process.said() };
}

/** A store with miners that do not answer, and the rule as an older version has stored it. */
async function stored(): Promise<string> {
  const data = folder();
  const store = await openStore({ file: join(data, "rigbridge.db"), now: Date.now });
  for (let index = 0; index < 200; index += 1) await store.miners.add(miner(`127.102.1.1:${1000 + index}`));
  await store.rules.add(ruleRow(RuleSettings.parse(rule(5)), null));
  await store.close();
  return data;
}

test("a rule that once ended the service is unknown and says so, before and after a restart; the service answers and lives", async () => {
  const data = await stored();
  for (let run = 0; run < 2; run += 1) {
    const { ask, stop } = await served(data);
    if (run === 0) expect((await ask("POST", "/api/rules", rule(4))).status).toBe(201);
    for (const key of ["chain-4", "chain-5"]) {
      await until(
        async () => Runs.parse((await ask("GET", `/api/rules/${key}/runs`)).json).runs.length > run,
        `${key} to be stopped`,
      );
      const { runs } = Runs.parse((await ask("GET", `/api/rules/${key}/runs`)).json);
      expect(runs[0]?.message).toMatch(/^its expression was stopped, and is unknown: it makes more than/);
      expect((await ask("POST", `/api/rules/${key}/try`, {})).status).toBe(200);
      expect((await ask("GET", "/health")).status).toBe(200);
    }
    const listed = Notifications.parse((await ask("GET", "/api/notifications")).json).notificationList;
    expect(listed.filter(({ message }) => message.includes("does not work as it should"))).toHaveLength(2);
    await stop();
  }
});

test("serve --without-rules starts with all of them off, where they can be listed and deleted", async () => {
  const data = await stored();
  const off = "all rules and schedules are off, since the service was started with --without-rules";
  const { ask, stop, said } = await served(data, "--without-rules");
  expect(said()).toContain(off);
  expect(Rules.parse((await ask("GET", "/api/rules")).json).rules).toMatchObject([
    { key: "chain-5", problem: expect.stringContaining(off) },
  ]);
  const listed = Notifications.parse((await ask("GET", "/api/notifications")).json).notificationList;
  expect(listed.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^All rules and schedules are off/),
  );
  const tried = await ask("POST", "/api/rules/chain-5/try", {});
  expect(tried.text).toContain(off);
  expect((await ask("PATCH", "/api/rules/chain-5", { name: "Changed" })).status).toBe(200);
  expect((await ask("DELETE", "/api/rules/chain-5")).status).toBe(200);
  await stop();
});
