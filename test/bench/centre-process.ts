import { pino } from "pino";
import { z } from "zod";
import { openCentre } from "../../src/centre/centre.ts";
import { connectService } from "../../src/client/index.ts";
import { Config, HttpSettings } from "../../src/config/schema.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { openStore } from "../../src/store/index.ts";
import { answering } from "./child.ts";

/** A centre without rigs of its own, with its HTTP server. */

const log = pino({ level: "silent" });
let centre: MiningService | undefined;

answering({
  start: async (input) => {
    const urls = z.array(z.string()).parse(input);
    const store = await openStore({ file: ":memory:", now: Date.now });
    const own = await startService({ config: Config.parse({}), store, log });
    const places = urls.map((url, index) => {
      const service = connectService({ url, key: "key-of-the-centre", isCentre: true, poll: 5, log });
      return { name: `Site ${index + 1}`, url, service };
    });
    const display = () => ({ locale: "en-US", currency: "USD", timeZone: "UTC" });
    centre = await openCentre({ own, places, store, display, log });
    const settings = HttpSettings.parse({ port: 0 });
    const server = await startHttpServer({ service: centre, settings, log, version: "1" });
    return server.url;
  },
  connected: async () =>
    (await centre?.listSites({}, { actor: "bench" }))?.filter(({ state }) => state === "connected").length ?? 0,
  memory: () => {
    globalThis.gc?.();
    return process.memoryUsage().rss;
  },
});
