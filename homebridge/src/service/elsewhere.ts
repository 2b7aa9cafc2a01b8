import { connectService } from "rigbridge/client";
import type { Logger } from "rigbridge/farm";
import type { ServiceSettings, Settings } from "../config/schema.ts";
import { actor, type Opened } from "./opened.ts";

/**
 * A service elsewhere, and whose eyes are looked through. Rejects where the user is named and cannot be asked for, or
 * the signal is aborted before that.
 */
export async function openElsewhere(
  { rigs }: Settings,
  elsewhere: ServiceSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<Opened> {
  const { url, key, user, locale, poll } = elsewhere;
  const service = connectService({
    ...{ url, key, log },
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
      listed: ({ uid, name }) => byName.get(uid ?? "") ?? byName.get(name),
      close: () => service.close(),
    };
  } catch (error) {
    await service.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
