import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches, openBench } from "../service/bench.ts";
import { json, openDouble } from "../service/notifications/doubles.ts";
import { rigbridge } from "./command.ts";

afterEach(closeBenches);

test("notify test says what the channel answers, what to check, and which channel was meant", async () => {
  const { heard, url } = await openDouble(json(200, { id: "1" }), json(401, {}));
  const bench = await openBench({ config: { channels: [{ key: "phone", type: "ntfy", url, topic: "farm" }] } });
  const settings = Config.parse({ http: { port: 0 } }).http;
  const { service } = bench;
  const server = await startHttpServer({ service, settings, log: pino({ level: "silent" }), version: "1.2.3" });
  onTestFinished(() => server.close());
  const at = `http://${server.address.host}:${server.address.port}`;
  const run = (channel: string) => rigbridge(["notify", "test", channel, "--service", at]);
  const host = new URL(url).host;
  expect(await run("phone")).toEqual({
    code: 0,
    stdout: `The test was sent to phone: ${host} answers 200\n`,
    stderr: "",
  });
  expect(heard.map(({ body }) => JSON.parse(body).title)).toEqual(["Test of Rigbridge"]);
  const refused = await run("phone");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`phone: ${host} answers 401; check its token`),
  ]);
  const unknown = await run("phnoe");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('did you mean "phone"?')]);
});
