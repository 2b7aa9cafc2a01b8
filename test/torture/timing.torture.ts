import { Agent, request } from "node:http";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { openStore } from "../../src/store/index.ts";
import { say } from "./say.ts";

/** Whether the time of a refusal tells how much of a key was right: wrong keys of three kinds, in turns. */
const each = 20_000;
const key = "K".repeat(64);
const wrong = {
  "wrong in its first character": `x${key.slice(1)}`,
  "wrong in its last character": `${key.slice(0, -1)}x`,
  "as long, and wrong throughout": "x".repeat(64),
  "of another length": key.slice(0, 32),
};

const log = pino({ level: "silent" });
const store = await openStore({ file: ":memory:", now: Date.now });
const config = Config.parse({ http: { port: 0, key }, users: [{ name: "anna", key: `${"K".repeat(63)}U` }] });
const service = await startService({ config, store, log });
const server = await startHttpServer({ service, settings: config.http, log, version: "torture" });
const { host, port } = server.address;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** ms until the refusal is there. */
function refusal(presented: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = request(
      { host, port, path: "/api/summary", agent, headers: { "x-api-key": presented } },
      (response) => {
        response.resume().once("end", () => resolve(performance.now() - start));
      },
    );
    sent.once("error", reject);
    sent.end();
  });
}

const kinds = Object.entries(wrong).map(([kind, text]) => ({ kind, text, times: [] as number[] }));
for (let warm = 0; warm < 2_000; warm += 1) for (const { text } of kinds) await refusal(text);
for (let turn = 0; turn < each; turn += 1) {
  // Another one goes first each time, so that none has a place of its own.
  for (let at = 0; at < kinds.length; at += 1) {
    const kind = kinds[(turn + at) % kinds.length];
    kind?.times.push(await refusal(kind.text));
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
/** Without the slowest twentieth, which is the machine's doing. */
const trimmed = (values: readonly number[]): readonly number[] =>
  values.toSorted((a, b) => a - b).slice(0, Math.round(values.length * 0.95));
const figures = kinds.map(({ kind, times }) => {
  const kept = trimmed(times);
  const middle = mean(kept);
  const spread = Math.sqrt(mean(kept.map((time) => (time - middle) ** 2)));
  return {
    kind,
    middle,
    error: spread / Math.sqrt(kept.length),
    halves: [0, 1].map((half) => mean(trimmed(times.filter((_, i) => i % 2 === half)))),
  };
});
const micro = (ms: number): string => `${(ms * 1000).toFixed(2)} µs`;
say(`${each} requests of each kind, in turns over one connection; the slowest 5 % left out`);
for (const { kind, middle, error } of figures) say(`  a key ${kind}: ${micro(middle)} ± ${micro(error)}`);
const means = figures.map(({ middle }) => middle);
const apart = (Math.max(...means) - Math.min(...means)) / Math.min(...means);
// The same kind compared with itself, every second request with the others.
const noise = Math.max(...figures.map(({ halves: [a = 0, b = 0] }) => Math.abs(a - b) / Math.min(a, b)));
say(`the means differ by ${(apart * 100).toFixed(2)} %; one kind with itself by ${(noise * 100).toFixed(2)} %`);
const held = apart < Math.max(0.01, 2 * noise);
say(held ? "nothing is told by the time" : "NOT AS PROMISED: the time tells something of the key");

agent.destroy();
await server.close();
await service.close();
await store.close();
process.exitCode = held ? 0 : 1;
