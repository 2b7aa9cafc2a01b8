import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Caller, MiningService } from "rigbridge";
import { connectService } from "rigbridge/client";
import type { Logger } from "rigbridge/farm";
import { insideConfig } from "./config/inside.ts";
import type { ServiceSettings, Settings } from "./config/schema.ts";
import type { FindSettings } from "./visible-farm.ts";

/** A running mining service, inside the plugin or elsewhere. */
export interface OpenService {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly find: FindSettings;
  close(): Promise<void>;
}

/** The caller's name in the audit log. */
const actor = "homebridge";

/** Rejects if the user of the settings cannot be looked up, or if the signal is aborted before that. */
export async function openElsewhere(
  { rigs }: Settings,
  { url, key, user, locale, poll }: ServiceSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<OpenService> {
  const service = connectService({
    url,
    key,
    log,
    ...(locale === undefined ? {} : { locale }),
    ...(poll === undefined ? {} : { poll }),
  });
  const giveUp = (): void => void service.close();
  signal.addEventListener("abort", giveUp, { once: true });
  const byName = new Map(rigs.map((rig) => [rig.miner ?? "", rig]));
  try {
    const userId = user === undefined ? undefined : (await service.getUser({ username: user }, { actor })).userId;
    return {
      service,
      caller: { actor, userId },
      find: ({ uid, name }) => byName.get(uid ?? "") ?? byName.get(name),
      close: () => service.close(),
    };
  } catch (error) {
    await service.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/**
 * Starts a service in this process for the rigs of the settings, with its store in `folder`. Rejects while another
 * process uses that folder. The service's code is loaded only here.
 */
export async function openInside(settings: Settings, folder: string, log: Logger): Promise<OpenService> {
  const { checkedConfig, formatAddress, openStore, parseAddress, startService } = await import("rigbridge/service");
  // If the folder cannot be created, the store reports why.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const config = checkedConfig(insideConfig(settings).config);
  const store = await openStore({ file: join(folder, "rigbridge.db"), now: Date.now });
  try {
    const service = await startService({ config, store, log, eventsKept: 1_000 });
    const byAddress = new Map(settings.rigs.map((rig) => [formatAddress(parseAddress(rig.address ?? "")), rig]));
    const byId = new Map(store.miners.all().map(({ id, address }) => [id, byAddress.get(address)]));
    return {
      service,
      caller: { actor },
      find: ({ id }) => byId.get(id),
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
