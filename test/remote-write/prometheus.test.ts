import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { z } from "zod";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasProgram } from "../has-program.ts";
import { until, within } from "../until.ts";
import { openWriterBench } from "./writer-bench.ts";

const hasPrometheus = hasProgram(
  "prometheus",
  spawnSync("prometheus", ["--version"]).status === 0,
  "remote write to it",
);
const Answer = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});

(hasPrometheus ? test : test.skip)("a real Prometheus has the samples, and forgets a rig that is off", async () => {
  const bench = await openWriterBench();
  onTestFinished(bench.close);
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(bench.folder, "prometheus.yml"), "");
  const prometheus = spawn(
    "prometheus",
    [
      `--config.file=${join(bench.folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(bench.folder, "data")}`,
      `--web.listen-address=${address}`,
      "--web.enable-remote-write-receiver",
    ],
    { stdio: "ignore" },
  );
  onTestFinished(async () => {
    if (prometheus.kill()) await within(once(prometheus, "exit"), "Prometheus to end");
  });
  const query = async (text: string) => {
    const body = new URLSearchParams({ query: text });
    const answer = await fetch(`http://${address}/api/v1/query`, { method: "POST", body });
    return Answer.parse(await answer.json()).data.result;
  };
  const writer = await bench.writer(`http://${address}/api/v1/write`);
  // It waits until Prometheus has started.
  await writer.round();
  await writer.settled();
  const power = await query("rigbridge_miner_power_watts");
  expect(power.map(({ metric: { name, group, site } }) => [name, group, site]).sort()).toEqual([
    ["attic", "House", "cabin"],
    ["den", "House", "cabin"],
    ["garage", "House", "cabin"],
  ]);
  expect(power.every(({ value: [, watts] }) => Number(watts) > 0)).toBe(true);
  bench.farm.rigs[0]?.powerOff();
  for (let reads = 0; reads < 3; reads += 1) await bench.poll();
  await writer.round();
  await writer.settled();
  // A query sees whole milliseconds, and the last round may be of this one.
  const left = async () => (await query("rigbridge_miner_power_watts")).map(({ metric: { name } }) => name).sort();
  await until(async () => (await left()).join() === "den,garage", "the rig to be gone");
  expect((await query('rigbridge_miner_up{name="attic"}')).map(({ value: [, up] }) => up)).toEqual(["0"]);
  expect(writer.status.dropped).toBe(0);
});
