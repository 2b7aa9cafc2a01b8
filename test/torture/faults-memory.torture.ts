import { Fleet } from "../../src/fleet/fleet.ts";
import { declaredRig } from "../declared-rig.ts";
import { startFarmProcess } from "./farm-process.ts";
import { megabytes, openFilesOf, Verdict, wait, watchProcess } from "./measure.ts";
import { say } from "./say.ts";

/** A hundred rigs that answer without end, then with 100 MB each, all read at once, again and again. */
const ports = { cgminer: 24_328, axeos: 24_380, xmrig: 24_480 };
const rounds = 20;
const verdict = new Verdict();
const farm = await startFarmProcess(100, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);

const troubles = new Map<string, number>();
const fleet = new Fleet({
  timeout: 5_000,
  now: Date.now,
  remember: async () => undefined,
  listener: {
    read: ({ state: { trouble } }) => {
      const code = trouble?.code ?? "none";
      troubles.set(code, (troubles.get(code) ?? 0) + 1);
    },
    disconnected: () => undefined,
    refused: () => undefined,
    failed: () => undefined,
  },
});

try {
  const rigs = farm.rigs.map((rig, index) => fleet.put(declaredRig(rig, index + 1, 3_600_000)));
  const readAll = (): Promise<unknown> => Promise.all(rigs.map((rig) => fleet.poll(rig)));
  for (let round = 0; round < 10; round += 1) await readAll();
  const before = process.memoryUsage.rss();
  for (const fault of ["endless", "vast", "http-endless-chunks"]) {
    await farm.type(`fault all ${fault}`);
    troubles.clear();
    const watched = watchProcess();
    const start = performance.now();
    for (let round = 0; round < rounds; round += 1) await readAll();
    const seconds = (performance.now() - start) / 1000;
    const { peak, delayP99, delayMax } = watched.end();
    const said = [...troubles].map(([code, count]) => `${count} ${code}`).join(", ");
    say(`${fault}: ${rigs.length} rigs at once, ${rounds} times in ${seconds.toFixed(1)} s: ${said}`);
    say(`  memory ${megabytes(before)} before all, at most ${megabytes(peak)}: ${megabytes(peak - before)} more`);
    say(`  event loop p99 ${delayP99.toFixed(1)} ms, at most ${delayMax.toFixed(1)} ms`);
    verdict.check(`${fault}: memory grows by less than 150 MB`, peak - before < 150e6);
    verdict.check(`${fault}: the event loop is late by less than 50 ms (p99)`, delayP99 < 50);
    verdict.check(`${fault}: none of them is taken for a good reading`, !troubles.has("none"));
  }
  await wait(500);
  say(`${openFilesOf("self") ?? "?"} open files afterwards`);

  await farm.type("on all");
  await farm.type("fault cgminer-1 slow");
  const slow = rigs[0];
  if (slow === undefined) throw new Error("no rig");
  const from = performance.now();
  await fleet.poll(slow);
  const cut = (performance.now() - from) / 1000;
  say(`a byte each half second: ${slow.state.trouble?.code} after ${cut.toFixed(2)} s`);
  verdict.check("a read ends after 5 s, a tenth more or less", cut > 4.5 && cut < 5.5);
} finally {
  fleet.close();
  await farm.close();
}
verdict.end();
