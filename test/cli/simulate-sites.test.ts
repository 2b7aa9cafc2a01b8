import { afterEach, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { Sites } from "../../src/config/sites.ts";
import { startCentre } from "../centre/centre-bench.ts";
import { freePort } from "../free-port.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { command, running } from "./command.ts";

afterEach(closeBenches);

test("simulate --sites runs sites with virtual rigs of their own, whose section a centre takes as it is printed", async () => {
  const ports = ["cgminer", "axeos", "xmrig"].map(async (kind) => `${kind}=${await freePort()}`);
  const addresses = ["--addresses", (await Promise.all(ports)).join(",")];
  const sites = await running(["simulate", "--sites", "2", "--count", "5", "--port", "0", ...addresses], /Ctrl-C/);
  const said = sites.said();
  expect(said).toMatch(/^2 sites with 5 virtual rigs each on this machine; each rig is read every 10 s\.\n/);
  const [, section = ""] = /^( {2}sites:\n(?: {4}.*\n)+)/m.exec(said) ?? [];
  const places = Sites.parse(parse(section).sites).map(({ name, url = "", key = "" }) => ({ name, url, key }));
  expect(places.map(({ name }) => name)).toEqual(["Site 1", "Site 2"]);
  const { centre } = await startCentre(places);
  const owner = { actor: "test" };
  const rows = async () => (await centre.listMinerRows({ view: "list" }, owner)).miners;
  await until(async () => (await rows()).filter(({ status }) => status === "Mining").length === 10, "all rigs to mine");
  expect(new Set((await rows()).map(({ name }) => name)).size).toBe(10);
  const [site] = places;
  const answer = await fetch(`${site?.url}/api/summary`, { headers: { "x-api-key": "key-of-another-site" } });
  expect(answer.status).toBe(401);
  sites.signal("SIGINT");
  expect(await sites.ended).toMatchObject({ code: 0, stderr: "" });
});

test("simulate --sites says every wrong option", async () => {
  const wrong = ["--sites", "20", "--count", "5001", "--key", "a", "--port", "65530"];
  const { code, stdout, stderr } = await command(["simulate", ...wrong]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.trim().split("\n")).toEqual([
    "No rigs were started:",
    "  --key: requires --reference",
    "  --port: must be a whole number from 0 to 65516",
    "  --count: must be a whole number from 1 to 5000",
  ]);
  expect((await command(["simulate", "--sites", "0"])).stderr).toContain(
    "--sites: must be a whole number from 1 to 200",
  );
  expect((await command(["simulate", "--sites", "1", "--reference"])).stderr).toContain(
    "--sites: cannot be combined with --reference",
  );
});
