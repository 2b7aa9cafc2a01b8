import { expect, test } from "@jest/globals";
import { freePort } from "../../src/agent/free-port.ts";

/** Ports that no other test uses. */
const range = { lowest: 14_000, highest: 15_000 };

test("a port is given once until its program has had time to listen, also by other agents of the host", async () => {
  const port = await freePort(new Set(), range);
  const again = freePort(new Set(), { lowest: port, highest: port + 1 });
  await expect(again).rejects.toThrow("no free port was found");
});

test("a port of the agent's own programs is not given again", async () => {
  const all = new Set(Array.from({ length: 1_000 }, (_, index) => range.lowest + index));
  await expect(freePort(all, range)).rejects.toThrow("no free port was found");
});
