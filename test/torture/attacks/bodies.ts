import { quantile } from "../../bench/statistics.ts";
import { sendBody, worstBodies } from "../../bench/worst-bodies.ts";
import type { Attack } from "../attack.torture.ts";
import { megabytes, type Verdict, wait } from "../measure.ts";
import { type ServiceProcess, startProcess } from "../process.ts";

const keys = {
  service: "the-key-of-the-service",
  view: "the-key-of-who-may-look",
  control: "the-key-of-who-may-steer",
};
const json = { "content-type": "application/json" };

/** "Clients are bounded in the size, depth and time of what they send", and who may not change anything is not read. */
export const attack: Attack = {
  name: "bodies that are made to cost much",
  run: async (verdict) => {
    const service = await startProcess({
      config: {
        http: { key: keys.service },
        users: [
          { name: "viewer", key: keys.view, privilege: "view" },
          { name: "steerer", key: keys.control, privilege: "control" },
        ],
        miners: Array.from({ length: 100 }, (_, index) => ({ address: `127.103.60.${index + 1}:9` })),
        poll: { interval: 3600 },
      },
    });
    try {
      await ofViewer(service, verdict);
      await ofSteerer(service, verdict);
    } finally {
      await service.close();
    }
  },
};

/** ms of small requests of somebody else, one after the other, until it is over. */
async function othersWaits(service: ServiceProcess, over: Promise<unknown>): Promise<number[]> {
  let ended = false;
  const end = over.finally(() => {
    ended = true;
  });
  const waits: number[] = [];
  while (!ended || waits.length < 20) {
    waits.push((await service.ask("GET", "/api/summary", { from: "127.103.61.1" })).ms);
    await wait(5);
  }
  await end;
  return waits;
}

const shown = (waits: readonly number[]): string =>
  `others wait ${quantile(waits, 0.5).toFixed(1)} ms, at most ${Math.max(...waits).toFixed(0)} ms`;

async function ofViewer(service: ServiceProcess, verdict: Verdict): Promise<void> {
  const names = Array.from({ length: 85_000 }, (_, index) => `"${index.toString(36)}":{}`).join();
  const body = `{"action":"stop","all":true,"parameters":{${names}}}`;
  const before = await service.memory();
  const started = performance.now();
  const asked = Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      service.ask("POST", "/api/actions", {
        headers: { ...json, "x-api-key": keys.view },
        body,
        from: `127.103.62.${index + 1}`,
      }),
    ),
  );
  const waits = await othersWaits(service, asked);
  const answers = await asked;
  const took = performance.now() - started;
  const largest = Math.max(...answers.map(({ text }) => text.length));
  const statuses = [...new Set(answers.map(({ status }) => status))];
  verdict.check(
    `6 bodies of ${megabytes(body.length)} (85,000 names) of a view user: ${statuses.join(", ")} in ${took.toFixed(0)} ms, ` +
      `${largest} bytes at most; ${shown(waits)}; memory +${megabytes((await service.memory()) - before)}`,
    statuses.join() === "403" && largest < 10_000 && Math.max(...waits) < 1_000,
  );
}

/** Each body by a user who may send it, and then by many at once. */
async function ofSteerer(service: ServiceProcess, verdict: Verdict): Promise<void> {
  const before = await service.memory();
  const answers = new Map<number, number>();
  let resets = 0;
  const started = performance.now();
  const send = async (turn: number): Promise<void> => {
    const worst = worstBodies[turn % worstBodies.length];
    if (worst === undefined) return;
    const status = await sendBody(worst, {
      port: service.port,
      key: keys.control,
      from: `127.103.63.${(turn % 200) + 1}`,
    }).catch(() => null);
    if (status === null) resets += 1;
    else answers.set(status, (answers.get(status) ?? 0) + 1);
  };
  const sending = Promise.all(
    Array.from({ length: 12 }, async (_, sender) => {
      for (let turn = sender; turn < 240; turn += 12) await send(turn);
    }),
  );
  const waits = await othersWaits(service, sending);
  const took = (performance.now() - started) / 1000;
  const said = [...answers].map(([status, count]) => `${count} with ${status}`).join(", ");
  verdict.check(
    `240 of the dearest bodies of a control user, 12 at once: answered ${said}, ${resets} reset, in ${took.toFixed(1)} s; ` +
      `${shown(waits)}; ` +
      `memory +${megabytes((await service.memory()) - before)}`,
    [...answers.keys()].every((status) => status >= 400 && status < 500) && resets === 0 && Math.max(...waits) < 1_000,
  );
}
