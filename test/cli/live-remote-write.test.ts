import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { closedPort } from "../link/servers.ts";
import { ownHost } from "../own-host.ts";
import { type Receiver, startReceiver } from "../remote-write/receiver.ts";
import { until } from "../until.ts";
import { type Running, running } from "./command.ts";

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

let folder = "";
let farm: Awaited<ReturnType<typeof startFarm>>;
let receiver: Receiver;
let service: Running;

const url = (): string => ready.exec(service.said())?.[1] ?? "";
const ask = async (method: string, path: string, body?: unknown) => {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await fetch(`${url()}/${path}`, { method, ...sent });
  return { status: answer.status, body: await answer.text() };
};
const history = (remoteWrite: unknown) => ({ value: { raw: 2, remoteWrite } });
const metrics = async () => (await ask("GET", "metrics")).body;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-remote-write-"));
  farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  receiver = await startReceiver();
  service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
  await ask("POST", "api/miners", { address: farm.rigs[0]?.address, name: "rig" });
});
afterEach(async () => {
  service.signal("SIGKILL");
  await service.ended;
  await receiver.close();
  await farm.close();
  await rm(folder, { recursive: true });
});

test("remote write is tested, set, changed and ended while the service runs", async () => {
  await until(async () => (await metrics()).includes("rigbridge_miner_power_watts{"), "the rig to be read");
  expect(await metrics()).not.toContain("remote_write");
  const away = `http://127.0.0.1:${await closedPort()}/write`;
  const token = "Bearer a-long-token";
  const settings = { url: receiver.url, headers: { Authorization: token }, interval: 5 };
  const trial = (remoteWrite: unknown) => ask("POST", "api/settings/history/test", history(remoteWrite));
  expect((await trial(settings)).body).toContain(`${new URL(receiver.url).host} takes samples`);
  expect((await trial({ ...settings, url: away })).body).toContain("cannot be reached (ECONNREFUSED)");
  receiver.answers.push({ status: 401, body: "no" });
  expect((await trial(settings)).body).toContain("answers with status 401: no");
  receiver.taken.length = 0;

  const saved = await ask("PUT", "api/settings/history", history({ ...settings, url: away }));
  expect([saved.status, saved.body]).toEqual([200, expect.stringContaining("are sent to 127.0.0.1:")]);
  expect(saved.body).not.toContain("a-long-token");
  const queue = join(folder, "remote-write");
  await until(async () => (await readdir(queue)).length > 0, "samples to wait on disk");
  expect(await metrics()).toMatch(/^rigbridge_remote_write_waiting_bytes [1-9]/m);

  await ask("PUT", "api/settings/history", history(settings));
  await until(() => receiver.taken.length > 1, "samples to be sent");
  const marked = { ...settings, headers: { Authorization: { set: true } }, labels: { site: "cabin" } };
  expect((await ask("PUT", "api/settings/history", history(marked))).status).toBe(200);
  await until(() => receiver.taken.flat().some(({ labels: { site } }) => site === "cabin"), "the label to be sent");
  expect(receiver.headers.at(-1)?.authorization).toBe(token);
  const names = new Set(receiver.taken.flat().map(({ labels: { __name__ } }) => __name__));
  expect(names).toContain("rigbridge_miner_power_watts");
  await until(async () => (await readdir(queue)).length === 0, "nothing to wait");
  expect(await metrics()).toMatch(/^rigbridge_remote_write_samples_total\{result="sent"\} [1-9]/m);

  expect((await ask("DELETE", "api/settings/history")).body).toContain("are no longer sent to");
  await until(async () => !(await readdir(folder)).includes("remote-write"), "the folder to be gone");
  expect(await metrics()).not.toContain("remote_write");
});

test("mistakes are all named, and nothing is changed", async () => {
  const refused = await ask("PUT", "api/settings/history", {
    value: {
      remoteWrite: {
        url: "http://198.51.100.7/write",
        headers: { Authorization: "Bearer secret-word" },
        labels: { __site: "a", name: "b" },
        interval: 1,
      },
    },
  });
  expect(refused.status).toBe(400);
  for (const words of ["not beginning with a digit or __", "is a label of the metrics themselves", "interval"])
    expect(refused.body).toContain(words);
  const unprotected = { url: "http://198.51.100.7/write", headers: { Authorization: "Bearer secret-word" } };
  const other = await ask("PUT", "api/settings/history", history(unprotected));
  expect(other.body).toContain("must begin with https:// outside private networks");
  expect(refused.body + other.body + service.said()).not.toContain("secret-word");
  expect(await readdir(folder)).not.toContain("remote-write");
});
