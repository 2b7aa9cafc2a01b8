import { type AnnouncedService, type AnnounceOptions, announceService } from "../discovery/announce.ts";
import type { SettingsPart } from "../service/index.ts";

/** The announcement of this process on the network, as long as the settings enable it. */
export class LiveAnnouncement {
  readonly #options: AnnounceOptions;
  readonly #settings: SettingsPart<"http">;
  #announced: AnnouncedService | undefined;

  constructor(options: AnnounceOptions, settings: SettingsPart<"http">) {
    this.#options = options;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    await this.#follow();
    this.#settings.onChange(() => this.#follow());
  }

  async close(): Promise<void> {
    const announced = this.#announced;
    this.#announced = undefined;
    await announced?.close();
  }

  async #follow(): Promise<void> {
    const { announce } = this.#settings.now.http;
    if (announce === (this.#announced !== undefined)) return;
    if (announce) this.#announced = await announceService(this.#options);
    else await this.close();
  }
}
