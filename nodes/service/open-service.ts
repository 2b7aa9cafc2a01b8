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
  const { node: version } = process.versions;
  if (!isAtLeast(version, clientNeeds)) throw new Fault("not.possible", "old-node", { needed: recommended, version });
  if (settings.mode === "inside") {
    if (!isAtLeast(version, insideNeeds))
      throw new Fault("not.possible", "old-node-inside", { needed: insideNeeds.join("."), version });
    // Loaded only here, since it needs the newer Node.js.
    const { openInside } = await import("./inside.ts");
    return openInside({ settings, secrets, file, log });
  }
  const { connectService } = await import("rigbridge/client");
  const { url, user, locale, poll } = settings;
  const { key } = secrets;
  const service = connectService({
    url,
    log,
    poll,
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

/** Node.js 20 loads the nodes into Node-RED 4.1, but lacks functions that the client needs. */
const clientNeeds = [22, 9] as const;
/** Before this one, Node.js 22 does not load them into Node-RED 4.1. */
const recommended = "22.12";
/** The store needs its SQLite. */
const insideNeeds = [22, 13] as const;

/** Whether a version of Node.js is this one or newer. */
export function isAtLeast(version: string, [wantedMajor, wantedMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
