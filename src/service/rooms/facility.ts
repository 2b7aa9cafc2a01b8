import { RigbridgeError } from "../../contract/problems.ts";
import type { Core } from "../core.ts";
import { FacilityTurns } from "../facility/facility.ts";
import { isVisible, presentDevice } from "../facility/present-device.ts";
import { endsStarts } from "../power/precedence.ts";
import type { ServiceRoom } from "../room.ts";
import type { Commands } from "./commands.ts";
import type { Miners } from "./miners.ts";

/** PDUs, meters, sensors, fans and coolers. */
export function openFacility(core: Core, { registry, notices }: Miners, { executor, holds }: Commands) {
  const { devices, store, log, now, repeat, accessBook, settings } = core;
  const turns = new FacilityTurns({ devices, registry, store, notices, repeat, log, now });
  executor.guardStarts({
    waits: (minerId) => turns.fans.cool(minerId),
    before: (minerId) => turns.fans.beforeStart(minerId),
    ends: endsStarts,
    check: (command) => {
      const entry = registry.find(command.minerId);
      const refusal = entry === undefined ? null : holds.refusalSince(entry, command);
      if (refusal !== null) throw new RigbridgeError("not.possible", refusal);
    },
  });
  settings.part("turns of facility devices", ["facility"]).onChange(() => turns.follow());
  return {
    operations: {
      listFacility: async (_input, caller) => {
        const access = accessBook.of(caller);
        const rigs = access.all ? null : turns.rigsNow();
        return devices
          .all()
          .filter((device) => rigs === null || isVisible(device, rigs.get(device) ?? [], access))
          .map((device) => presentDevice(device, turns.differenceOf(device), now()));
      },
    },
    start: () => turns.follow(),
    settled: () => turns.settled(),
    close: () => turns.close(),
  } satisfies ServiceRoom;
}
