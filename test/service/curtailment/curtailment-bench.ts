import type { Input, Reply } from "../../../src/contract/service.ts";
import type { Repeat } from "../../../src/service/repeat.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { until } from "../../until.ts";
import { caller, openBench } from "../bench.ts";

export const whatsminer: RigSpec = { kind: "whatsminer", password: "admin", warm: true, restartSeconds: 0 };

export const axeos: RigSpec = { kind: "axeos", warm: true };

/** A service whose clock and turns a test holds, with rigs that have been read. */
export async function curtailmentBench(rigs: readonly RigSpec[], config: Record<string, unknown> = {}, store = {}) {
  const clock = stoppedClock();
  let ahead = 0;
  const turns: (() => Promise<void>)[] = [];
  const repeat: Repeat = (work, ms) => {
    if (ms === 1_000) turns.push(work);
    return () => void turns.splice(turns.indexOf(work), 1);
  };
  const bench = await openBench({
    rigs,
    config: { power: { minOn: 0, minOff: 0 }, ...config },
    clock: () => clock.now() + ahead,
    monotonicNow: clock.now,
    repeat,
    ruleTurns: repeat,
    ...store,
  });
  const ids: number[] = [];
  for (const [index, { address, kind }] of bench.farm.rigs.entries()) {
    const login = kind === "whatsminer" ? { password: "admin" } : {};
    ids.push(await bench.add(address, { name: `rig ${index + 1}`, driver: kind, ...login }));
  }
  /** Sets the machine's clock forward or back; what is measured by the monotonic clock stays. */
  const setClock = (seconds: number): void => {
    ahead += seconds * 1000;
  };
  /** Some seconds later, all rigs are read, and each part of the service has its turn. */
  const turn = async (seconds = 1): Promise<void> => {
    clock.pass(seconds);
    for (const id of ids) await bench.poll(id);
    for (const work of [...turns]) await work();
    await bench.idle();
  };
  const start = (body: Partial<Input<"startCurtailment">>) =>
    bench.service.startCurtailment({ reason: "peak", ...body }, caller);
  const get = (id: number): Promise<Reply<"getCurtailment">> => bench.service.getCurtailment({ id }, caller);
  const report = (id: number) => bench.service.getCurtailmentReport({ id }, caller);
  const mining = async (): Promise<(boolean | null)[]> =>
    Promise.all(ids.map(async (id) => (await bench.get(id)).readings.mining));
  const settles = (holds: () => Promise<boolean>, what: string) =>
    until(async () => {
      await turn(5);
      return holds();
    }, what);
  return {
    bench,
    service: bench.service,
    clock,
    now: () => clock.now() + ahead,
    setClock,
    ids,
    turn,
    start,
    get,
    report,
    mining,
    settles,
  };
}
