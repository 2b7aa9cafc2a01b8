import type { OpenedService } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { caller } from "../shared/services.ts";
import type { InsideOptions } from "./inside.ts";
import type { Secrets, ServiceSettings } from "./settings.ts";

export interface OpenOptions extends Pick<InsideOptions, "file" | "log"> {
  readonly settings: ServiceSettings;
  readonly secrets: Secrets;
}

/** Opens the service of the settings. Throws a RigbridgeError or a Fault. */
export async function openService({ settings, secrets, file, log }: OpenOptions): Promise<OpenedService> {
  if (settings.mode === "inside") {
    if (!hasSqlite(process.versions.node))
      throw new Fault("not.possible", "old-node", { version: process.versions.node });
    // Loaded only here, since it needs the newer Node.js.
    const { openInside } = await import("./inside.ts");
    return openInside({ settings, secrets, file, log });
  }
  const { connectService } = await import("rigbridge/client");
  const { url, user, locale, poll } = settings;
  const { key } = secrets;
  const service = connectService({
    ...{ url, log, poll },
    ...(key === "" ? {} : { key }),
    ...(locale === "" ? {} : { locale }),
  });
  const close = () => service.close();
  if (user === "") return { service, caller, close };
  try {
    const { userId } = await service.getUser({ username: user }, caller);
    return { service, caller: { ...caller, userId }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The store needs the SQLite of Node.js 22.13 or newer. */
export function hasSqlite(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 13);
}
