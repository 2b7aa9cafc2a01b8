import { z } from "zod";
import { succeeded, tryJson } from "../client/answers.ts";
import { nodePlatform } from "../client/node-platform.ts";
import { identifyServer } from "../client/server.ts";
import { openWire, type Wire } from "../client/wire.ts";
import { RigbridgeError } from "../contract/problems.ts";

export interface ProbeResult {
  readonly kind: "rigbridge" | "foreign";
  /** null if it reports none. */
  readonly version: string | null;
}

/** The Rigbridge at a URL, null if there is none. Sends one short request without a key; never rejects. */
export const probeRigbridge = (url: string, signal: AbortSignal): Promise<ProbeResult | null> =>
  probe(url, async (wire) => {
    const version = await versionAt(wire, signal);
    return version === null ? null : { kind: "rigbridge", version };
  });

/** Likewise a Rigbridge, or else a foreign server that requires no key. */
export const probeService = async (url: string, signal: AbortSignal): Promise<ProbeResult | null> =>
  (await probeRigbridge(url, signal)) ??
  (await probe(url, async (wire) => {
    const { kind } = await identifyServer({ wire, key: undefined, timeoutMs, signal });
    return { kind, version: null };
  }));

/** ms for one request. */
const timeoutMs = 2_000;
/** Bytes; the health report of a Rigbridge is short. */
const maxBytes = 10_000;

const Health = z.object({ status: z.literal("ok"), version: z.string().regex(/^\d+\.\d+\.\d+[\w.+-]{0,50}$/) });

async function versionAt(wire: Wire, signal: AbortSignal): Promise<string | null> {
  const answer = await wire.exchange({ method: "GET", path: "/health", query: {}, timeoutMs, maxBytes, signal });
  return (succeeded(answer) && Health.safeParse(tryJson(answer.body)).data?.version) || null;
}

/** Null for any other server; redirects are not followed. */
async function probe(url: string, ask: (wire: Wire) => Promise<ProbeResult | null>): Promise<ProbeResult | null> {
  const wire = openWire(nodePlatform(), url, undefined);
  try {
    return await ask(wire);
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  } finally {
    wire.close();
  }
}
