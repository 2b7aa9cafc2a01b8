import { logTo, readLists } from "rigbridge/farm";
import type { OpenedService } from "../shared/farm-connection.ts";
import { type Translate, toRigbridgeError } from "../shared/faults.ts";
import { messageFor } from "../shared/service-texts.ts";
import { openService } from "./open-service.ts";
import type { Secrets, ServiceSettings } from "./settings.ts";

/** The result of the test button. */
export interface TestResult {
  /** Like "Rigbridge 0.1.0". */
  readonly service: string;
  readonly miners: number;
  readonly offline: number;
  readonly groups: number;
  /** Whether it offers more than the documented API, as groups, controls and history. */
  readonly isFull: boolean;
  /** The listed rigs of a service inside Node-RED. */
  readonly rigs: readonly { readonly address: string; readonly model: string; readonly problem: string | null }[];
}

/** Opens a service for the test; one inside Node-RED stores nothing. `language`: of the editor. Throws the reason why it cannot be used. */
export async function testService(
  settings: ServiceSettings,
  secrets: Secrets,
  translate: Translate,
  language: unknown = undefined,
): Promise<TestResult> {
  const ignore = (): void => undefined;
  const log = logTo({ info: ignore, warn: ignore, error: ignore });
  // A network scan takes minutes; the test reads only the listed rigs.
  const tested = settings.mode === "inside" ? { ...settings, scan: false } : settings;
  const opened = await openService({ settings: tested, secrets, file: ":memory:", log });
  try {
    const rigs = settings.mode === "inside" ? await testRigs(opened, translate, language) : [];
    return { ...(await totals(opened)), rigs };
  } finally {
    await opened.close();
  }
}

async function totals({ service, caller }: OpenedService): Promise<Omit<TestResult, "rigs">> {
  const { miners, groups, summary, features } = await readLists(service, caller);
  return {
    service: `${summary.metaData.edition} ${summary.metaData.version}`.trim(),
    miners: miners.length,
    offline: miners.filter(({ isOffline }) => isOffline).length,
    groups: groups.length,
    isFull: features.has("listCommands"),
  };
}

/** Reads each rig once. */
async function testRigs(
  { service, caller }: OpenedService,
  translate: Translate,
  language: unknown,
): Promise<TestResult["rigs"]> {
  const { miners } = await readLists(service, caller);
  return Promise.all(
    miners.map(async ({ id, hostDescription: address }) => {
      try {
        const { hardware, isOffline, readings } = await service.pollMiner({ id }, caller);
        // A rig that refuses the login is not offline.
        const isUnread = isOffline || readings.stale;
        const problem = isUnread ? (readings.notes[0] ?? translate("status.unreachable")) : null;
        return { address, model: hardware, problem };
      } catch (error) {
        return { address, model: "", problem: messageFor(toRigbridgeError(error, translate), language) };
      }
    }),
  );
}
