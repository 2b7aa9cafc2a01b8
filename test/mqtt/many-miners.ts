import type { ServiceEvent } from "../../src/contract/events.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { caller } from "../contract/kinds.ts";

/** As many miners as one likes, each a copy of one that is real. */
export interface ManyMiners {
  readonly service: MiningService;
  readonly uids: readonly string[];
  /** All have another power now, and say so. */
  change(power: number): void;
}

export async function manyMiners(service: MiningService, original: number, count: number): Promise<ManyMiners> {
  const { metaData: _, ...one } = await service.getMiner({ id: original }, caller);
  let miners: Miner[] = Array.from({ length: count }, (_, index) => {
    const mac = `0252${index.toString(16).padStart(8, "0")}`;
    return { ...one, id: index + 1, uid: mac, macAddress: mac.toUpperCase(), name: `Rig ${index + 1}` };
  });
  let events = 0;
  let happened = Promise.withResolvers<void>();
  async function* changes(signal: AbortSignal): AsyncGenerator<ServiceEvent> {
    signal.addEventListener("abort", () => happened.resolve());
    for (;;) {
      await happened.promise;
      if (signal.aborted) return;
      happened = Promise.withResolvers();
      for (const data of miners) {
        events += 1;
        yield { type: "miner", id: events, data };
      }
    }
  }
  return {
    service: {
      ...service,
      listMiners: async (...asked) => {
        const list = await service.listMiners(...asked);
        const [group, ...others] = list.groupList;
        if (group === undefined) throw new Error("there is no group");
        const emptied = others.map((other) => ({ ...other, minerList: [], groupList: [] }));
        return { ...list, groupList: [{ ...group, minerList: miners }, ...emptied] };
      },
      watchEvents: (_query, _caller, signal) => changes(signal),
    },
    uids: miners.map(({ uid }) => uid ?? ""),
    change: (power) => {
      miners = miners.map((miner) => ({ ...miner, readings: { ...miner.readings, power } }));
      happened.resolve();
    },
  };
}
