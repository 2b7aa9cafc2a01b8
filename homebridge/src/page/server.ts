import { HomebridgePluginUiServer, RequestError } from "@homebridge/plugin-ui-utils";
import { RigbridgeError } from "rigbridge";
import { nameOf } from "../config/read.ts";
import { folderIn, readStatus } from "../status-file.ts";
import { checked } from "./check.ts";
import { RigScan } from "./rig-scan.ts";
import { trySettings } from "./try-service.ts";

/**
 * The process behind the settings page, which Homebridge's user interface starts when the page is opened and ends when
 * it is closed. What it writes to its output gets into the log of Homebridge, so it writes nothing.
 */
class PageServer extends HomebridgePluginUiServer {
  readonly #closing = new AbortController();

  constructor() {
    super();
    process.once("disconnect", () => this.#closing.abort());
    const { signal } = this.#closing;
    const scan = new RigScan((progress) => this.pushEvent("scan", progress), signal);
    const storage = this.homebridgeStoragePath ?? "";
    this.#answer("/check", checked);
    this.#answer("/services", () => findServices(signal));
    this.#answer("/try", (given) => trySettings(given, signal));
    this.#answer("/scan", (given) => scan.run(given));
    this.#answer("/scan/stop", () => scan.stop());
    this.#answer("/status", (given) => readStatus(folderIn(storage, nameOf(given))));
    this.ready();
  }

  /** A failure is a sentence for the page; a fault of ours too, since anything else would be printed with its stack. */
  #answer(path: string, answer: (given: unknown) => unknown): void {
    this.onRequest(path, async (given: unknown) => {
      try {
        return (await answer(given)) ?? null;
      } catch (error) {
        const message = error instanceof RigbridgeError ? error.message : "A fault of the plugin";
        throw new RequestError(message, { code: error instanceof RigbridgeError ? error.code : "internal" });
      }
    });
  }
}

async function findServices(signal: AbortSignal) {
  const discovery = await import("rigbridge/discovery");
  return discovery.findServices({ signal });
}

new PageServer();
