import { describe, expect, test } from "@jest/globals";
import { crossChecks } from "../../src/config/cross-checks.ts";
import { Config } from "../../src/config/index.ts";
import { isListedHost } from "../../src/config/webhook-hosts.ts";

const isAt = (host: string, url: string): boolean => isListedHost([host], new URL(url));

describe("a host to which limited users may send web hooks", () => {
  test.each([
    ["hooks.example", "https://hooks.example/a", "http://HOOKS.example.:8080/a"],
    ["hooks.example:443", "https://hooks.example/", "https://hooks.example:443/"],
    ["192.168.1.5:80", "http://192.168.1.5/", "http://3232235781/", "http://[::ffff:192.168.1.5]/"],
    ["fd00::5", "http://[fd00:0::5]:1880/"],
    ["[fd00::5]:1880", "http://[FD00::5]:1880/"],
    ["bücher.example", "https://xn--bcher-kva.example/"],
  ])("%s is meant however an address is written", (host, ...urls) => {
    for (const url of urls) expect([url, isAt(host, url)]).toEqual([url, true]);
  });

  test.each([
    ["hooks.example", "https://a.hooks.example/", "https://hooks.example.org/", "https://192.168.1.5/?hooks.example"],
    ["hooks.example:443", "http://hooks.example/", "https://hooks.example:8443/"],
    ["192.168.1.5:80", "https://192.168.1.5/", "http://192.168.1.50/", "http://192.168.1.5.nip.example/"],
  ])("%s is not another host or port", (host, ...urls) => {
    for (const url of urls) expect([url, isAt(host, url)]).toEqual([url, false]);
  });

  test("is none unless it is listed, and is a host with or without a port", () => {
    expect(Config.parse({}).automation.webhookHosts).toEqual([]);
    for (const text of ["", "http://a", "a/b", "a@b", "a b", "a:99999", "10.0.0.0/8", "*"])
      expect([text, Config.safeParse({ automation: { webhookHosts: [text] } }).success]).toEqual([text, false]);
  });

  test("is listed once, and is not a declared miner", () => {
    const value = {
      miners: [{ address: "192.168.1.7:80" }, { address: "192.168.1.8" }],
      automation: { webhookHosts: ["a.example", "192.168.1.7:80", "A.example.", "192.168.1.8"] },
    };
    expect(crossChecks(value).map(({ path, message }) => [path.join(" "), message])).toEqual([
      ["automation webhookHosts 1", "is the address of miners[0], to which no web hook is sent"],
      ["automation webhookHosts 2", "is the same host as automation.webhookHosts[0]"],
    ]);
  });
});
