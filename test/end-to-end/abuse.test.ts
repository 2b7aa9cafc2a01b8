import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { operationNames, operations } from "../../src/contract/operations.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { workers } from "../pollers.ts";
import { type ServiceProcess, startProcess } from "../torture/process.ts";

// depends on: src/**

const key = "the-key-of-the-service";
let farm: Farm;
let service: ServiceProcess;
/** Records connections, and redirects requests. */
let trap: Server;
let redirecting: Server;
const trapped: string[] = [];
const urlOf = (server: Server, host: string): string => {
  const address = server.address();
  return `${host}:${typeof address === "object" ? address?.port : ""}`;
};

beforeAll(async () => {
  trap = createServer((request, response) => {
    trapped.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  trap.listen(0, "127.103.30.1");
  await once(trap, "listening");
  redirecting = createServer((_request, response) => {
    response.writeHead(307, { location: `http://${urlOf(trap, "127.103.30.1")}/redirected` }).end();
  });
  redirecting.listen(0, "127.103.30.2");
  await once(redirecting, "listening");
  farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: "127.103.31.1" }] });
  const config = {
    http: { key },
    poll: { workers, interval: 1, timeout: 1 },
    miners: [{ address: farm.rigs[0]?.address, name: "rig" }],
    scan: { networks: ["127.103.39.0/30"] },
  };
  service = await startProcess({ config });
});
afterAll(async () => {
  await service.close();
  await farm.close();
  for (const server of [trap, redirecting]) {
    server.closeAllConnections();
    server.close();
  }
});

const json = { "content-type": "application/json" };
const post = (path: string, body: unknown) => service.ask("POST", path, { headers: json, body: JSON.stringify(body) });
const idIn = (text: string): number => Number(/"id":(\d+)/.exec(text)?.[1]);

describe("the service never connects", () => {
  test("to an address from a pool, a host or mining software", async () => {
    const there = urlOf(trap, "127.103.30.1");
    const schemes = ["http", "https", "stratum+tcp", "stratum+ssl", "daemon+http", "tcp"];
    for (const scheme of schemes) expect((await post("/api/pools", { url: `${scheme}://${there}` })).status).toBe(200);
    for (const url of [`file://${there}`, `ftp://${there}`, `gopher://${there}`, `javascript://${there}`])
      expect((await post("/api/pools", { url })).status).toBe(400);
    const host = await post("/api/hosts", { hostname: there });
    expect(host.status).toBe(200);
    const software = { hostId: 1, softwarePath: `http://${there}/miner`, softwareAutoDownload: true };
    expect((await post("/api/managedminers", software)).status).toBe(200);
    for (const list of ["pools", "hosts", "managedminers", "hosts/1/systeminfo"])
      await service.ask("GET", `/api/${list}`);
    expect(trapped).toEqual([]);
  });

  test("to the target of a rig's redirect", async () => {
    const added = await post("/api/miners", { address: urlOf(redirecting, "127.103.30.2") });
    expect(added.status).toBe(201);
    const answer = await service.ask("POST", `/api/miners/${idIn(added.text)}/poll`);
    expect([answer.status, trapped]).toEqual([200, []]);
    expect(answer.text).toContain("speaks a known protocol");
    await service.ask("DELETE", `/api/miners/${idIn(added.text)}`);
  });

  test.each([
    "169.254.169.254",
    "http://169.254.169.254:80",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "224.0.0.1",
    "0.0.0.0",
  ])("at %s", async (address) => {
    expect((await post("/api/miners", { address })).status).toBe(400);
  });

  test.each(["169.254.169.254/32", "169.254.0.0/16", "224.0.0.0/24", "0.0.0.0/30"])(
    "by a search in %s",
    async (network) => {
      expect((await post("/api/discovery", { networks: [network], yes: true })).status).toBe(400);
    },
  );

  test("except to itself when it is added as a rig, which fails", async () => {
    // So that it is not read every second by itself while the test waits.
    const added = await post("/api/miners", { address: `127.0.0.1:${service.port}`, name: "myself", interval: 3600 });
    const id = idIn(added.text);
    const requests = async () => {
      const { text } = await service.ask("GET", "/metrics");
      return [...text.matchAll(/^rigbridge_http_requests_total\S* (\d+)$/gm)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const before = await requests();
    const polled = await service.ask("POST", `/api/miners/${id}/poll`);
    expect(polled.text).toContain("speaks a known protocol");
    // A read sends the few requests of each protocol once.
    expect((await requests()) - before).toBeLessThan(40);
    const rig = await service.ask("POST", "/api/miners/1000000001/poll");
    expect(rig.text).toContain('"statusDisplay":"Mining"');
    expect((await service.ask("DELETE", `/api/miners/${id}`)).status).toBe(200);
  });
});

describe("nothing is ever executed", () => {
  const files = readdirSync(new URL("../../src", import.meta.url), { recursive: true, encoding: "utf8" });

  test("by any file of the source", () => {
    // The dashboard's files run in browsers.
    const sources = files.filter((file) => file.endsWith(".ts") && !file.startsWith("web/"));
    expect(sources.length).toBeGreaterThan(150);
    const runs =
      /child_process|node:vm|node:cluster|\beval\s*\(|\bnew Function\b|\bexecFile|\bspawn(Sync)?\s*\(|process\.binding|\bshell\s*:/;
    const found = sources.filter((file) =>
      runs.test(readFileSync(join(new URL("../../src", import.meta.url).pathname, file), "utf8")),
    );
    // The step `run`, only where the configuration file allows programs; and the agent of a host, which its own allows.
    expect(found.toSorted()).toEqual([
      "agent/foreign-programs.ts",
      "agent/gpus/run.ts",
      "agent/platform/tools.ts",
      "agent/process.ts",
      "agent/reboot.ts",
      "service/automation/programs.ts",
    ]);
    for (const file of found) {
      const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
      expect(text).not.toMatch(/\bexec(Sync)?\s*\(|\bshell\s*:|\bfork\s*\(/);
    }
  });

  const commands = [
    "reboot",
    "/bin/sh -c id",
    "--config=/etc/passwd",
    "LD_PRELOAD=/tmp/x.so",
    "..\\..\\x.exe",
    "%COMSPEC%",
  ];
  const wraps: ((text: string) => string)[] = [
    (text) => `; ${text}`,
    (text) => `| ${text}`,
    (text) => `&& ${text}`,
    (text) => `\`${text}\``,
    (text) => `$(${text})`,
    (text) => `\${${text}}`,
    (text) => `" ${text} "`,
    (text) => `' ${text} '`,
    (text) => `> ${text}`,
    (text) => `{{${text}}}`,
  ];
  const payloads = commands.flatMap((command) => wraps.map((wrap) => wrap(command)));

  test("of 60 command lines, which are returned unchanged", async () => {
    expect(payloads).toHaveLength(60);
    for (const payload of payloads) {
      const sent = { commandLineParams: payload, softwarePath: payload };
      const { status, text } = await post("/api/managedminers", { id: 1, hostId: 1, ...sent });
      expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining(sent)]);
      const { text: again } = await service.ask("GET", "/api/managedminers/1");
      expect(JSON.parse(again)).toMatchObject(sent);
    }
  });

  test.each(["a\nb", "a\r\nb", "a\0b", "\u001b[2J"])(
    "of lines with control characters, which are refused: %j",
    async (line) => {
      expect((await post("/api/managedminers", { id: 1, hostId: 1, commandLineParams: line })).status).toBe(400);
    },
  );
});

describe("a malformed number", () => {
  const odd = [
    "-1",
    "1e3",
    "0x10",
    "9007199254740993",
    "9999999999999999",
    "NaN",
    "Infinity",
    "１",
    "1,5",
    "1.5",
    "+1",
    "%201",
    "1%20",
    "0b1",
    "1_0",
    "%00",
    "٣",
  ];

  test.each(odd)("%s is refused or unknown in place of any id", async (id) => {
    for (const name of operationNames.filter((name) => operations[name].path.includes(":id"))) {
      const { method, path } = operations[name];
      const target = path.replaceAll(/:\w+/g, encodeURI(decodeURIComponent(id)));
      const { status } = await service.ask(method, `${target}?action=stop`, {
        headers: json,
        body: method === "GET" ? undefined : "{}",
      });
      expect([name, status]).toEqual([name, 400]);
    }
    for (const parameter of ["user_id", "after", "miner"]) {
      const path = { user_id: "/api/summary", after: "/api/events", miner: "/api/commands" }[parameter];
      // A uid may be any word, and the number of an event is longer.
      const allowed = parameter === "user_id" || !/^\d+$/.test(id) ? [400] : [200, 400];
      if (parameter === "miner") allowed.push(200, 404);
      const { status } = await service.ask("GET", `${path}?${parameter}=${encodeURIComponent(decodeURIComponent(id))}`);
      expect([parameter, allowed.includes(status)]).toEqual([parameter, true]);
    }
  });

  test.each(["-1", "0x10", "NaN", "Infinity", "1,5", "１", "1e9999", "1e400", ".5", "1.", ""])(
    "%s is refused as a decimal",
    async (text) => {
      for (const name of ["profit", "difficulty", "btc"]) {
        const { status } = await service.ask("POST", `/api/coins/BTC?${name}=${encodeURIComponent(text)}`);
        expect([name, status]).toEqual([name, 400]);
      }
    },
  );

  test("is refused in a body too", async () => {
    for (const id of ["-1", "1.5", "1e20", "9007199254740993", '"1"', "[1]", "{}", "true"])
      expect([
        id,
        (await service.ask("POST", "/api/hosts", { headers: json, body: `{"id":${id},"hostname":"x"}` })).status,
      ]).toEqual([id, 400]);
  });
});

test("HEAD is answered like GET, without a body", async () => {
  for (const name of operationNames.filter((name) => operations[name].method === "GET")) {
    const target = operations[name].path.replaceAll(/:\w+/g, "1000000001");
    const [head, get] = [await service.ask("HEAD", target), await service.ask("GET", target)];
    expect([name, head.status, head.text]).toEqual([name, get.status, ""]);
  }
});

test("a parameter given twice is refused by every operation that has it", async () => {
  for (const name of operationNames.filter((name) => operations[name].method === "GET")) {
    const target = operations[name].path.replaceAll(/:\w+/g, "1000000001");
    expect([name, (await service.ask("GET", `${target}?user_id=1&user_id=1`)).status]).toEqual([name, 400]);
  }
});
