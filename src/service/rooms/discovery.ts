import { ownInterfaces } from "../../discovery/own-machine.ts";
import type { Core } from "../core.ts";
import { Discoveries } from "../discovery/discovery.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** Searches for rigs, and what else points to them. */
export function openDiscovery(core: Core, { registry, notices, operations }: Miners) {
  const { options, log, now, accessBook } = core;
  const settings = core.settings.part("search for rigs", ["scan", "logins"]);
  const discoveries = new Discoveries({
    settings: settings.now,
    accessBook,
    rigs: () => registry.fleet.all(),
    add: (miner) => core.definitions.run(() => operations.addMiner(miner, { actor: "service" })),
    nameOf: (minerId) => registry.find(minerId)?.facts.name ?? null,
    miners: operations,
    notices,
    interfaces: options.interfaces ?? ownInterfaces,
    ...(options.reportPorts === undefined ? {} : { reportPorts: options.reportPorts }),
    now,
    log,
  });
  settings.onChange(() => discoveries.renew());
  return {
    operations: {
      startDiscovery: discoveries.startDiscovery,
      getDiscovery: discoveries.getDiscovery,
      cancelDiscovery: discoveries.cancelDiscovery,
      listSightings: discoveries.sightings.listSightings,
      placeSighting: discoveries.sightings.placeSighting,
    },
    start: () => discoveries.start(),
    settled: () => discoveries.settled(),
    close: () => discoveries.close(),
  } satisfies ServiceRoom;
}
