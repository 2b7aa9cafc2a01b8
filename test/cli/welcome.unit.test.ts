import { describe, expect, test } from "@jest/globals";
import { placesOf, welcome } from "../../src/cli/welcome.ts";

const served = { version: "1.2.3", miners: 0, demoMiners: 8, wantsKey: true, file: "/srv/rigs/rigbridge.yaml" };
const own = ["192.168.1.20", "10.8.0.1"];

describe("the address that the service prints", () => {
  test.each([
    ["0.0.0.0", "http://127.0.0.1:17790"],
    ["::", "http://[::1]:17790"],
  ])("is one that other machines reach, with %s", (host, url) => {
    const places = placesOf({ url, address: { host, port: 17790 } }, own);
    expect(places).toEqual({ url: "http://192.168.1.20:17790", others: ["http://10.8.0.1:17790", url] });
    const { ready, advice } = welcome({ ...served, ...places });
    expect(ready).toBe("Rigbridge 1.2.3 is ready at http://192.168.1.20:17790 with 8 demo miners");
    expect(advice).toContain(`Also reachable at http://10.8.0.1:17790, ${url}`);
    expect(advice[0]).toMatch(/^Open http:\/\/192\.168\.1\.20:17790 in a browser and log in with the API key; /);
    expect(advice.join("\n")).toContain("http://192.168.1.20:17790/api/miners");
  });

  test("is this computer's alone on loopback, and the first start says how to open it to the network", () => {
    const advice = (url: string, miners: number) => welcome({ ...served, url, others: [], miners }).advice.join("\n");
    expect(advice("http://127.0.0.1:17790", 0)).toContain("Only this computer can open it; started with --lan");
    expect(advice("http://[::1]:17790", 0)).toContain("--lan");
    expect(advice("http://127.0.0.1:17790", 1)).not.toContain("--lan");
    expect(advice("http://192.168.1.20:17790", 0)).not.toContain("--lan");
  });

  test("is the only one where it listens on a single address", () => {
    for (const host of ["127.0.0.1", "192.168.1.20"]) {
      const url = `http://${host}:17790`;
      const places = placesOf({ url, address: { host, port: 17790 } }, own);
      expect(places).toEqual({ url, others: [] });
      expect(welcome({ ...served, ...places }).advice.join("\n")).not.toContain("Also reachable at");
    }
  });
});

test("leads to the dashboard first, and then to adding rigs until there is one", () => {
  const at = { ...served, url: "http://127.0.0.1:17790", others: [] };
  const [first, ...rest] = welcome({ ...at, wantsKey: false }).advice;
  expect(first).toBe("Open http://127.0.0.1:17790 in a browser; http://127.0.0.1:17790/docs describes the API");
  expect(rest.join("\n")).toContain("http://127.0.0.1:17790/add");
  expect(welcome({ ...at, miners: 1 }).advice).toHaveLength(1);
});

test("every hint names the configuration file with its folder", () => {
  const { advice } = welcome({ ...served, url: "http://127.0.0.1:17790", others: [] });
  const named = advice.filter((line) => line.includes("rigbridge.yaml"));
  expect(named).toEqual(["or add it to /srv/rigs/rigbridge.yaml and restart:"]);
});
