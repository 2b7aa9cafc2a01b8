import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { RemoteWriteStatus } from "../contract/remote-write-status.ts";
import type { MiningService } from "../contract/service.ts";
import type { RemoteWriter } from "../remote-write/remote-writer.ts";
import type { Sections, SettingsPart } from "../service/index.ts";

interface Shared {
  readonly service: MiningService;
  readonly log: Logger;
}

/** Remote write of this process, if it is set; other settings of it begin anew with what waits. */
export class LiveRemoteWrite {
  readonly #settings: SettingsPart<"history">;
  /** Where requests wait; null: in memory. */
  readonly #folder: string | null;
  #writer: RemoteWriter | undefined;
  #isClosed = false;

  constructor(settings: SettingsPart<"history">, store: string) {
    this.#settings = settings;
    this.#folder = store === ":memory:" ? null : join(dirname(store), "remote-write");
  }

  /** Undefined without remote write. */
  get status(): RemoteWriteStatus | undefined {
    return this.#writer?.status;
  }

  async start(shared: Shared): Promise<void> {
    await this.#open(this.#settings.now, shared);
    this.#settings.onChange(async (now, before) => {
      if (isDeepStrictEqual(now.history.remoteWrite, before.history.remoteWrite)) return;
      await this.#writer?.close();
      this.#writer = undefined;
      if (this.#isClosed) return;
      await this.#open(now, shared);
      if (now.history.remoteWrite === undefined && this.#folder !== null)
        await rm(this.#folder, { recursive: true, force: true });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writer?.close();
  }

  /** Its modules are loaded only where it is set. */
  async #open({ history: { remoteWrite } }: Sections<"history">, { service, log }: Shared): Promise<void> {
    if (remoteWrite === undefined) return;
    const { RemoteWriter } = await import("../remote-write/remote-writer.ts");
    const writer = new RemoteWriter({ service, settings: remoteWrite, folder: this.#folder, log });
    this.#writer = writer;
    await writer.start().catch((error: unknown) => log.error({ err: error }, "remote write did not start"));
  }
}
