import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hotbox } from "../../examples/driver/hotbox.ts";
import { openLink } from "../../src/link/link.ts";
import { limits } from "../until.ts";

let on = true;
const device = createServer((request, response) => {
  if (request.method === "GET" && request.url === "/state") {
    response.end(JSON.stringify({ mac: "02:51:00:00:00:01", mhs: "950.5", watts: "a lot", on }));
    return;
  }
  request.on("data", (body: Buffer) => {
    on = body.toString() === '{"on":true}';
    response.end("as you like");
  });
});
beforeAll(() => new Promise<void>((resolve) => device.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise((resolve) => device.close(resolve)));

const connect = () => {
  const address = device.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return hotbox.connect(openLink({ host: "127.0.0.1", port, tls: false }, {}));
};
const soon = () => AbortSignal.timeout(limits.waitMs);

describe("the smallest driver", () => {
  test("recognises its device by the page, and no other", () => {
    const signs = { version: null, pages: {}, reports: {} };
    const page = (body: string) => ({ ...signs, root: { status: 200, headers: {}, body } });
    expect(hotbox.recognise(page("<title>Hotbox</title>"))).toEqual({ make: "Hotbox" });
    expect(hotbox.recognise(page("<title>AxeOS</title>"))).toBeUndefined();
    expect(hotbox.recognise({ ...signs, root: null })).toBeUndefined();
  });

  test("reads in SI units, what is odd as null with a note", async () => {
    const { identity, readings } = await connect().read(soon());
    expect(identity.mac).toBe("02:51:00:00:00:01");
    expect([readings.hashrate, readings.power, readings.notes]).toEqual([950_500_000, null, ["watts is not a number"]]);
  });

  test("stops it, in the device's words", async () => {
    const rig = connect();
    expect(await rig.set("mining", false, soon())).toBe("as you like");
    expect((await rig.read(soon())).readings.mining).toBe(false);
  });
});
