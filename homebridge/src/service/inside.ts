import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "rigbridge/farm";
import { insideConfig } from "../config/inside.ts";
import type { Settings } from "../config/schema.ts";
import { actor, type Opened } from "./opened.ts";

/**
 * The service inside this process, for the rigs of the settings; what outlives it stands in `folder`. It is loaded only
 * here. Rejects while another process has that folder.
 */
export async function openInside(settings: Settings, folder: string, log: Logger): Promise<Opened> {
  const { checkedConfig, formatAddress, openStore, parseAddress, startService } = await import("rigbridge/service");
  // What is wrong with a folder that cannot be made, the store says.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const config = checkedConfig(insideConfig(settings).config);
  const store = await openStore({ file: join(folder, "rigbridge.db"), now: Date.now });
  try {
    const service = await startService({ config, store, log, eventsKept: 1_000 });
    const byAddress = new Map(settings.rigs.map((rig) => [formatAddress(parseAddress(rig.address ?? "")), rig]));
    const rigOf = new Map(store.miners.all().map(({ id, address }) => [id, byAddress.get(address)]));
    return {
      service,
      caller: { actor },
      listed: ({ id }) => rigOf.get(id),
      close: async () => {
        await service.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
