import { HomebridgePluginUiServer, RequestError } from "@homebridge/plugin-ui-utils";
import { type Mistake, RigbridgeError } from "rigbridge";
import { isConfigured, nameOf, readSettings } from "../config/read.ts";
import { folderIn, readStatus } from "../status-file.ts";
import { RigScan } from "./rig-scan.ts";
import { trySettings } from "./try-service.ts";

/**
 * The process behind the settings page. Homebridge's user interface starts it when the page is opened and stops it when
 * the page is closed. Its output would appear in Homebridge's log, so it writes none.
 */
class PageServer extends HomebridgePluginUiServer {
  readonly #closing = new AbortController();

  constructor() {
    super();
    process.once("disconnect", () => this.#closing.abort());
    const { signal } = this.#closing;
    const scan = new RigScan((progress) => this.pushEvent("scan", progress), signal);
    const storage = this.homebridgeStoragePath ?? "";
    this.#answer("/check", check);
    this.#answer("/services", () => findServices(signal));
    this.#answer("/try", (given) => trySettings(given, signal));
    this.#answer("/scan", (given) => scan.run(given));
    this.#answer("/scan/stop", () => scan.stop());
    this.#answer("/status", (given) => readStatus(folderIn(storage, nameOf(given))));
    this.ready();
  }

  /** Every failure becomes a sentence for the page, internal errors too: their stack would be printed otherwise. */
  #answer(path: string, answer: (given: unknown) => unknown): void {
    this.onRequest(path, async (given: unknown) => {
      try {
        return (await answer(given)) ?? null;
      } catch (error) {
        const message = error instanceof RigbridgeError ? error.message : "Internal error of the plugin";
        throw new RequestError(message, { code: error instanceof RigbridgeError ? error.code : "internal" });
      }
    });
  }
}

/** What the plugin would report for a block of `config.json`, and whether the block configures anything. */
async function check(written: unknown): Promise<{ isConfigured: boolean; mistakes: readonly Mistake[] }> {
  const mistakes = await readSettings(written).then(
    () => [],
    (error: unknown) => {
      if (!(error instanceof RigbridgeError)) throw error;
      return error.errors;
    },
  );
  return { isConfigured: isConfigured(written), mistakes };
}

async function findServices(signal: AbortSignal) {
  const discovery = await import("rigbridge/discovery");
  return discovery.findServices({ signal });
}

new PageServer();
