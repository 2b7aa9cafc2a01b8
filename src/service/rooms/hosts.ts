import type { Core } from "../core.ts";
import { declareOwnHost } from "../declare.ts";
import { hostOperations } from "../hosts/hosts.ts";
import { managedOperations } from "../hosts/managed.ts";
import { Switcher, switchingTurnMs } from "../hosts/switcher.ts";
import { byTimer } from "../repeat.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** Hosts with their agents, and the mining software on them. */
export function openHosts(core: Core, { registry, managed, context }: Miners) {
  const { options, store, log, now, monotonicNow, accessBook, agents, benchmarks, coins, prices } = core;
  const switcher = new Switcher({
    store,
    managed,
    coins,
    prices,
    now,
    log,
    benchmarks,
    monotonicNow,
    stateOf: (id) => registry.find(id)?.rig.state,
  });
  const hostContext = { store, accessBook, agents, managed };
  core.settings.part("own machine", ["agent", "groups"]).onChange(async (settings) => {
    await declareOwnHost(settings, store);
    managed.refresh();
  });
  let stop = (): void => undefined;
  return {
    operations: {
      ...hostOperations(hostContext),
      ...managedOperations({ ...hostContext, coins, registry, switcher, addReal: context.addReal }),
      listBenchmarks: benchmarks.listBenchmarks,
      deleteBenchmark: benchmarks.deleteBenchmark,
    },
    direct: {
      knowsAgent: (digest) => agents.knows(digest),
      takeAgent: (digest, connection) => agents.take(digest, connection),
      takeOwnAgent: (connection) => {
        const own = store.hosts.all().find(({ owner, disabled }) => owner === "file" && !disabled);
        return own === undefined ? undefined : agents.takeOwn(own.id, connection);
      },
    },
    start: (): void => {
      stop = (options.switchingTurns ?? byTimer)(() => switcher.turn(), switchingTurnMs);
    },
    close: () => stop(),
  } satisfies ServiceRoom;
}
