import { once } from "node:events";
import { createServer } from "node:http";
import { expect, test } from "@jest/globals";
import { checkedTarget, sendWebRequest } from "../../src/service/web-request.ts";
import { problem } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";

/** Two servers at one port of two addresses, which note what they receive. */
async function twoServers() {
  const received: string[] = [];
  let port = 0;
  const addresses = [ownHost(), ownHost()] as const;
  for (const address of addresses) {
    const server = createServer((_request, response) => {
      received.push(address);
      response.writeHead(307, { location: `http://${addresses[1]}:${port}/` }).end();
    });
    server.listen(port, address);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const bound = server.address();
    port = typeof bound === "object" && bound !== null ? bound.port : 0;
  }
  return { received, port, addresses };
}

test("a request goes to the address that was checked, although its name stands for another one by then", async () => {
  const { received, port, addresses } = await twoServers();
  const left = [...addresses];
  const checked: string[] = [];
  const target = () =>
    checkedTarget(`http://hooks.example:${port}/`, {
      refusal: async (_url, [address = ""]) => {
        checked.push(address);
        return address === addresses[1] ? "is the address of a rig" : null;
      },
      resolve: (_name, _options, callback) => callback(null, [{ address: left.shift() ?? "", family: 4 }]),
    });
  const first = await target();
  const { status } = await sendWebRequest(first, { method: "POST", body: "{}" });
  expect([status, received]).toEqual([307, [addresses[0]]]);
  // The name is resolved and checked again for the next request.
  expect(await problem(target())).toMatchObject({
    code: "service.unreachable",
    message: `hooks.example:${port} is the address of a rig`,
  });
  expect([checked, received]).toEqual([addresses, [addresses[0]]]);
});

test.each([
  ["169.254.169.254", "is an address to which nothing is sent"],
  ["::ffff:a9fe:a9fe", "is an address to which nothing is sent"],
  [null, "cannot be reached: the name is unknown"],
])("nothing is sent to a name that stands for %s", async (address, message) => {
  const target = checkedTarget("http://hooks.example/", {
    refusal: async () => null,
    resolve: (_name, _options, callback) =>
      address === null
        ? callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), [])
        : callback(null, [{ address, family: address.includes(":") ? 6 : 4 }]),
  });
  expect((await problem(target)).message).toBe(`hooks.example ${message}`);
});
