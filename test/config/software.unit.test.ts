import { describe, expect, test } from "@jest/globals";
import { commandLine } from "../../src/agent/command-line.ts";
import { downloadOf } from "../../src/agent/downloads/index.ts";
import { checkedConfig } from "../../src/config/index.ts";
import { declaredProgram, Software, softwareFindings } from "../../src/config/software.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { somePool, someProgram } from "../agent/programs.ts";

const own = {
  id: "MyMiner",
  name: "My miner",
  api: "ccminer",
  path: "/opt/my-miner/my-miner",
  arguments: ["-a", "{algorithm}", "-o", "{scheme}{host}:{port}", "-u", "{login}", "-p", "{password}"],
  apiArguments: ["-b", "127.0.0.1:{apiPort}"],
  reserved: ["--config"],
  algorithms: ["kawpow", "ethash=eth"],
};

const first = (settings: object) => {
  const [parsed] = Software.parse([settings]);
  if (parsed === undefined) throw new Error("It was not parsed");
  return declaredProgram(parsed);
};

const findings = (...list: object[]): string[] =>
  softwareFindings(Software.parse(list)).map(({ path, message }) => `${path.join(".")} ${message}`);

describe("a program that a file declares", () => {
  test("is started as the file says", () => {
    const { entry, path } = first(own);
    expect(path).toBe("/opt/my-miner/my-miner");
    const program = someProgram({
      algorithm: "ethash",
      pools: [{ ...somePool, password: "hunter22" }],
      parameters: "-i 20",
    });
    const line = commandLine(entry, program, { apiPort: 4444, apiToken: "t0k3n" });
    expect(line).toMatchObject({
      argv: "-b 127.0.0.1:4444 -a eth -o stratum+tcp://pool.example.com:3333 -u 0xabc.rig1 -p hunter22 -i 20".split(
        " ",
      ),
      shown: expect.arrayContaining(["-p", "***"]),
    });
  });

  test.each(["-b 0.0.0.0:1", "-b0.0.0.0:1", "--config=/etc/x", "--conf /etc/x", "--startup-script x"])(
    "does not let parameters set its API or its files: %s",
    (parameters) => {
      const line = commandLine(first(own).entry, someProgram({ algorithm: "kawpow", parameters }), {
        apiPort: 1,
        apiToken: "",
      });
      expect(line).toMatchObject({ mistakes: [{ path: "parameters" }] });
    },
  );

  test("can change where a program of the catalogue comes from, and nothing else", () => {
    const sha256 = "a".repeat(64);
    const download = { url: "https://example.com/bz.tar.gz", version: "25.0", sha256 };
    const { entry, path } = first({ id: "BzMiner", download });
    expect([path, entry.name, entry.api]).toEqual([null, "BzMiner", "bzminer"]);
    expect(downloadOf(entry, "linux-arm64")).toEqual({
      software: "BzMiner",
      version: "25.0",
      url: download.url,
      sha256,
      sums: null,
      executable: "bzminer",
    });
    expect(findings({ id: "BzMiner", path: "/opt/bz", api: "ccminer", arguments: [] })).toEqual([
      "software.0.api cannot be changed for BzMiner, which is in the catalogue; use an id of your own",
      "software.0.arguments cannot be changed for BzMiner, which is in the catalogue; use an id of your own",
    ]);
  });

  test("is refused with every mistake", () => {
    expect(findings(own)).toEqual([]);
    expect(
      findings({ id: "MyMiner", api: "ccminer", arguments: ["{algo}", "{apiPort}"] }, own, {
        ...own,
        id: "CustomMiner",
      }),
    ).toEqual([
      "software.0.path is missing; set path or download",
      "software.0.algorithms is missing",
      "software.0.apiArguments must contain {apiPort}, so that its API can be read",
      "software.0.arguments {algo} is not a placeholder here",
      "software.0.arguments {apiPort} is not a placeholder here",
      'software.1.id "MyMiner" is declared twice',
      'software.2.id "CustomMiner" is reserved; use an id of your own',
    ]);
  });

  test.each([
    [{ ...own, id: "my miner" }, "letters and digits"],
    [{ ...own, path: "my-miner" }, "absolute path"],
    [{ ...own, path: undefined, download: { url: "http://example.com/x.zip", version: "1" } }, "https://"],
    [{ ...own, path: undefined, download: { url: "https://example.com/x.zip", version: "../1" } }, "1 to 64 of"],
    [{ ...own, algorithms: ["Not an id"] }, "id of GET /api/algorithms"],
    [{ ...own, api: "antminer" }, "Invalid option"],
  ])("does not fit the schema: %j", (settings, message) => {
    expect(Software.safeParse([settings]).error?.message).toContain(message);
  });
});

test("the service's file declares programs only for its own machine", () => {
  const refused = (value: object): string[] => {
    try {
      checkedConfig(value);
      return [];
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      return error.errors.map(({ path, message }) => `${path} ${message}`);
    }
  };
  expect(refused({ software: [own], agent: { enabled: true } })).toEqual([]);
  expect(refused({ software: [own] })).toEqual([
    "software has no effect without agent.enabled: true; other hosts declare programs in their agent's file",
  ]);
  expect(refused({ software: [{ ...own, arguments: ["{x}"] }], agent: { enabled: true } })).toEqual([
    expect.stringContaining("{x} is not a placeholder here"),
  ]);
});
