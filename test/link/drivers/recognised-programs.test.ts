import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { miningSoftware } from "../../../src/catalogue/mining-software.ts";
import { parseAddress } from "../../../src/link/address.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Farm, isProgram, rigKinds, startFarm } from "../../../src/simulator/index.ts";
import { ownHost } from "../../own-host.ts";
import { deadline } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const kinds = rigKinds.filter(isProgram);

let farm: Farm;
beforeAll(async () => {
  const host = ownHost();
  farm = await startFarm({ rigs: kinds.map((kind) => ({ kind, host, warm: true })) });
});
afterAll(() => farm.close());

test.each(kinds)("%s is recognised by what it answers at its port, with the software that it is", async (kind) => {
  const rig = farm.rigs.find((each) => each.kind === kind);
  const found = await identify(parseAddress(rig?.address ?? ""), {}, deadline());
  expect(found.driver.id).toBe(kind);
  expect(found.identity.make).not.toBeNull();
  const { software, identity } = await found.rig.read(deadline());
  expect(miningSoftware.map(({ id }) => id)).toContain(software);
  expect(identity.make).toBe(found.identity.make);
  found.rig.close();
});

test("a web server that is none of them gets neither passwords nor tokens", async () => {
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    asked.push(request);
    socket.end(http(200, '{"name":"something else"}'));
  });
  const credentials = { username: "user", password: "the-password", token: "the-token" };
  await expect(identify(parseAddress(`127.0.0.1:${server.port}`), credentials, deadline())).rejects.toMatchObject({
    code: "rig.unknown-protocol",
  });
  await server.close();
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.join()).not.toMatch(/the-password|the-token/);
});
