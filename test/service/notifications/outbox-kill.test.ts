import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { openStore } from "../../../src/store/index.ts";
import { folders } from "../../store/folder.ts";
import { until, within } from "../../until.ts";
import { json, openDouble } from "./doubles.ts";
import { openOutboxRun, start } from "./outbox-run.ts";

// depends on: src/**, test/service/notifications/outbox-process.ts

const folder = folders();

test("what was being sent when the service was killed is sent again only where the receiver ignores a repeat", async () => {
  const silent = () => undefined;
  const { heard, url } = await openDouble(silent, silent, json(200, { id: "1", event_id: "$1" }));
  const file = join(folder(), "rigbridge.db");
  const child = spawn(process.execPath, [join(import.meta.dirname, "outbox-process.ts"), file, url], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  await until(() => heard.length === 2, "both requests to arrive");
  child.kill("SIGKILL");
  await within(ended, "the process to end");
  const clock = { now: start + 60_000 };
  const store = await openStore({ file, now: () => clock.now });
  const run = await openOutboxRun(
    [
      { key: "phone", type: "ntfy", url, topic: "farm" },
      { key: "room", type: "matrix", url, token: "t", room: "!r:e" },
    ],
    store,
    clock,
  );
  for (let turn = 0; turn < 5; turn += 1) await run.pass(600);
  expect(run.rows().map(({ channel, state, error }) => [channel, state, error])).toEqual([
    ["phone", "unknown", "the service stopped while it was being sent; it may have arrived"],
    ["room", "sent", null],
  ]);
  // Matrix knows it by its transaction id.
  const puts = heard.filter(({ method }) => method === "PUT").map(({ path }) => path);
  expect([puts.length, new Set(puts).size, heard.length]).toEqual([2, 1, 3]);
  // The recovery is told to both: the alarm may have arrived.
  run.notices.close("disconnected:1", "It answers again");
  await run.pass(30);
  await run.pass(60);
  expect(heard).toHaveLength(5);
  await run.outbox.close();
  await store.close();
});
