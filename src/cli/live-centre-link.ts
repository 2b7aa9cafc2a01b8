import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { RigbridgeError } from "../contract/problems.ts";
import type { HttpServer } from "../http/index.ts";
import type { Sections, SettingsPart } from "../service/index.ts";

interface Shared {
  /** Serves the connections of the centre. */
  readonly http: Pick<HttpServer, "serveCentre">;
  /** The name of the store. */
  readonly instance: string;
  readonly log: Logger;
}

/** The connection to the centre of this service, if it has one; other settings of it connect again. */
export class LiveCentreLink {
  readonly #settings: SettingsPart<"centre">;
  readonly #shared: Shared;
  #link: { close(): void } | undefined;
  #isClosed = false;

  constructor(settings: SettingsPart<"centre">, shared: Shared) {
    this.#settings = settings;
    this.#shared = shared;
  }

  /** Throws `config.invalid` for a mistake in the file. One in saved settings is reported, and the service runs without. */
  async start(isOfFile: boolean): Promise<void> {
    await this.#open(this.#settings.now).catch((error: unknown) => {
      if (isOfFile || !(error instanceof RigbridgeError)) throw error;
      this.#shared.log.error(`The centre is not connected: ${error.message}`);
    });
    this.#settings.onChange(async (now) => {
      this.#link?.close();
      this.#link = undefined;
      if (!this.#isClosed) await this.#open(now);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#link?.close();
  }

  /** Its modules are loaded only where there is a centre. */
  async #open({ centre }: Sections<"centre">): Promise<void> {
    if (centre === undefined) return;
    const { url, token, privilege, insecure } = centre;
    const ca = centre.ca === undefined ? null : await certificateIn(centre.ca);
    const { CentreLink } = await import("../centre/centre-link.ts");
    const { http, instance, log } = this.#shared;
    this.#link = new CentreLink({
      url: new URL(url),
      token,
      ca,
      insecure,
      instance,
      serve: (connection) => http.serveCentre(connection, { name: new URL(url).host, privilege }),
      log,
    });
  }
}

async function certificateIn(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new RigbridgeError("config.invalid", `centre.ca: ${file} cannot be read (${error.code})`, { cause: error });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new RigbridgeError("config.invalid", `centre.ca: ${file} contains no certificate in PEM form`);
}
