import { expect, test } from "@jest/globals";
import { checkLogin, parsePoolUrl } from "../../src/link/pool-login.ts";

const login = { url: "stratum+tcp://pool.example.com:3333", worker: "acct.rig", password: "x" };

test.each([
  ["stratum+tcp://pool.example.com:3333", { scheme: "stratum+tcp", host: "pool.example.com", port: 3333, tls: false }],
  ["stratum+ssl://10.0.0.1:443/", { scheme: "stratum+ssl", host: "10.0.0.1", port: 443, tls: true }],
  ["pool.example.com:1", { scheme: "stratum+tcp", host: "pool.example.com", port: 1, tls: false }],
  ["stratum+tcp://[fd00::1]:3333", { scheme: "stratum+tcp", host: "[fd00::1]", port: 3333, tls: false }],
])("%s", (url, parts) => {
  expect(parsePoolUrl(url)).toEqual(parts);
});

test.each([
  "",
  "stratum+tcp://pool.example.com",
  "stratum+tcp://pool.example.com:0",
  "stratum+tcp://pool.example.com:65536",
  "stratum+tcp://user@pool.example.com:1",
  "stratum+tcp://pool,evil:3333",
  "stratum+tcp://pool|quit:3333",
  "stratum+tcp://pool.example.com:3333\n",
  "stratum+tcp://pool.example.com:3333/path",
  "stratum+tcp://[::zz]:3333",
])("%j is not a pool", (url) => {
  expect(parsePoolUrl(url)).toBeNull();
  expect(() => checkLogin({ ...login, url })).toThrow(expect.objectContaining({ code: "input.invalid" }));
});

test("every mistake of a login is named at once, and none of its secrets", () => {
  const bad = { url: "pool", worker: "", password: "geheim\n" };
  expect(() => checkLogin(bad)).toThrow(
    expect.objectContaining({
      code: "input.invalid",
      message: expect.not.stringContaining("geheim"),
      errors: ["url", "worker", "password"].map((path) => expect.objectContaining({ path })),
    }),
  );
});
