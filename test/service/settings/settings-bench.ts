import { pino } from "pino";
import { parseConfig } from "../../../src/config/read.ts";
import type { Caller } from "../../../src/contract/service.ts";
import type { SettingsSection } from "../../../src/contract/settings.ts";
import { type RunningService, SettingsBook, startService } from "../../../src/service/index.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../any-store.ts";

export const admin: Caller = { actor: "test" };

export interface SettingsBench {
  readonly service: RunningService;
  readonly store: Store;
  /** The parts of the service, with the sections that they follow. */
  readonly parts: readonly { readonly name: string; readonly sections: readonly string[] }[];
  /** What the log warned of. */
  readonly warned: readonly string[];
  /** Writes the configuration file; `reload` and `restart` read it. */
  write(yaml: string): void;
  /** Ends the service and starts it with the same store and the file as it is now. */
  restart(): Promise<void>;
  save(
    section: SettingsSection,
    value: unknown,
    more?: { revision?: number; dryRun?: boolean },
  ): ReturnType<RunningService["saveSettings"]>;
  /** A section as it is listed. */
  section(key: SettingsSection): Promise<Awaited<ReturnType<RunningService["listSettings"]>>["sections"][number]>;
  close(): Promise<void>;
}

const open: SettingsBench[] = [];

export async function closeSettingsBenches(): Promise<void> {
  for (const bench of open.splice(0)) await bench.close();
}

const always = "poll: {interval: 3600}\ndisplay: {timeZone: UTC}\n";

/** A service over a configuration file in memory, `fixed` before all that is written to it. */
export async function openSettingsBench(yaml = "", { store, fixed = always }: { store?: Store; fixed?: string } = {}) {
  const kept = store ?? (await openStore({ file: ":memory:", now: Date.now }));
  let text = fixed + yaml;
  const warned: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void warned.push(JSON.parse(line).msg) });
  const read = () => ({ name: "rigbridge.yaml", ...parseConfig(text, "rigbridge.yaml", {}) });
  let parts: SettingsBench["parts"] = [];
  const start = async () => {
    const settings = new SettingsBook({ base: read(), reread: async () => read(), finish: (each) => each }, kept, log);
    const started = await startService({ config: settings.config, settings, store: kept, log });
    parts = settings.live.parts;
    return started;
  };
  let service = await start();
  const bench: SettingsBench = {
    get service() {
      return service;
    },
    get parts() {
      return parts;
    },
    store: kept,
    warned,
    write: (next) => {
      text = fixed + next;
    },
    restart: async () => {
      await service.close();
      service = await start();
    },
    save: (section, value, more = {}) => service.saveSettings({ section, value, ...more }, admin),
    section: async (key) => {
      const found = (await service.listSettings({}, admin)).sections.find((each) => each.key === key);
      if (found === undefined) throw new Error(`there is no section ${key}`);
      return found;
    },
    close: async () => {
      await service.close();
      if (store === undefined) await kept.close();
    },
  };
  open.push(bench);
  return bench;
}
