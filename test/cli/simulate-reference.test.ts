import { describe, expect, test } from "@jest/globals";
import { command, running } from "./command.ts";

describe("rigbridge simulate --reference", () => {
  test("runs the server, shows how to call it, and stops on SIGINT", async () => {
    const options = ["--locale", "sv-SE", "--miners", "6", "--key", "a&b", "--port", "0"];
    const server = await running(["simulate", "--reference", ...options], /Ctrl-C/);
    const said = server.said();
    const address = /curl "(.+)"/.exec(said)?.[1] ?? "";
    const reply = await fetch(address);
    const text = await reply.text();
    const keyless = await fetch(address.replace(/\?.*/, ""));
    server.signal("SIGINT");
    expect(await server.ended).toMatchObject({ code: 0, stderr: "" });
    expect(said).toMatch(/^A reference server with 6 miners is at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(said).toMatch(/^ {2}Stands in for {2}Awesome Miner/m);
    expect(said).toMatch(/^ {2}Locale +sv-SE$/m);
    expect(said).toMatch(/^ {2}API key +a&b, as \?key=/m);
    expect(said).toMatch(/^ {2}visitor +3 +view +1$/m);
    expect(address).toMatch(/\/api\/miners\?key=a%26b$/);
    expect(reply.status).toBe(200);
    expect(text).toMatch(/"hashrate":"\d+,\d\d TH\/s"/);
    expect(keyless.status).toBe(401);
  });

  test("reports every wrong option", async () => {
    const farm = ["--count", "1", "--mix", "axeos=1", "--base-port", "1", "--addresses", "--fault", "slow"];
    const wrong = ["--locale", "xyz_", "--miners", "0", "--key", "a b", "--port", "65536", "--seed", "x"];
    const { code, stdout, stderr } = await command(["simulate", "--reference", ...farm, ...wrong]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trim().split("\n")).toEqual([
      "The reference server was not started:",
      "  --count: cannot be combined with --reference",
      "  --mix: cannot be combined with --reference",
      "  --base-port: cannot be combined with --reference",
      "  --addresses: cannot be combined with --reference",
      "  --fault: cannot be combined with --reference",
      '  --locale: "xyz_" is not a known locale; use one such as en-US or sv-SE',
      "  --miners: must be a whole number from 1 to 10000",
      "  --key: must be printable ASCII without spaces",
      "  --port: must be a whole number from 0 to 65535",
      "  --seed: must be a whole number from 0 to 4294967295",
    ]);
  });

  test("its options are refused without --reference", async () => {
    const { code, stderr } = await command(["simulate", "--locale", "sv-SE", "--port", "1", "--count", "0"]);
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      "No rigs were started:",
      "  --locale: requires --reference",
      "  --port: requires --reference",
      "  --count: must be a whole number from 1 to 40000",
    ]);
  });
});
