import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { pino } from "pino";
import { trySettings } from "../../homebridge/src/page/try-service.ts";
import { Config } from "../../src/config/index.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { openStore } from "../../src/store/index.ts";

const keys = { owner: "invented-key-of-the-owner", control: "invented-key-to-control", view: "invented-key-to-view" };

let server: HttpServer;
let close: () => Promise<void>;
beforeAll(async () => {
  const log = pino({ level: "silent" });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0, key: keys.owner },
    users: [
      { name: "Controls", key: keys.control, privilege: "control" },
      { name: "Views", key: keys.view, privilege: "view" },
    ],
  });
  const service = await startService({ config, store, log });
  server = await startHttpServer({ service, settings: config.http, log, version: "test" });
  close = async () => {
    await server.close();
    await service.close();
    await store.close();
  };
});
afterAll(() => close());

const never = new AbortController().signal;
const tried = (key: string | undefined) =>
  trySettings({ url: server.url, ...(key === undefined ? {} : { key }) }, never);

test.each([
  ["the owner's", keys.owner, true],
  ["one that may control", keys.control, true],
  ["one that may only view", keys.view, false],
])("a key is tested for whether it permits commands: %s", async (_, key, mayControl) => {
  await expect(tried(key)).resolves.toMatchObject({ text: "0 rigs, 0 groups, 0 manual rules", mayControl });
});

test("a missing key is reported in the words of the page", async () => {
  await expect(tried(undefined)).rejects.toMatchObject({
    code: "key.missing",
    message: "The service requires an API key; enter it above",
  });
});
