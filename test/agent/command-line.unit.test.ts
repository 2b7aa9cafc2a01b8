import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type CommandLine, type CommandOptions, commandLine } from "../../src/agent/command-line.ts";
import type { MiningProgram } from "../../src/catalogue/mining-program.ts";
import { miningPrograms, programOf } from "../../src/catalogue/mining-software.ts";
import type { Program } from "../../src/contract/agent.ts";
import { somePool, someProgram } from "./programs.ts";

const options: CommandOptions = { apiPort: 4444, apiToken: "t0k3n" };

function lineOf(id: string, fields: Partial<Program> = {}, given = options): CommandLine {
  const line = commandLine(entryOf(id), someProgram(fields), given);
  if ("mistakes" in line) throw new Error(line.mistakes.map(({ path, message }) => `${path} ${message}`).join("; "));
  return line;
}

function entryOf(id: string): MiningProgram {
  const entry = programOf(id);
  if (entry === undefined) throw new Error(`No program ${id}`);
  return entry;
}

const mistakesOf = (id: string, fields: Partial<Program>): string[] => {
  const line = commandLine(entryOf(id), someProgram(fields), options);
  return "mistakes" in line ? line.mistakes.map(({ path, message }) => `${path}: ${message}`) : [];
};

describe("a program is started with its pool, its API on the loopback and the user's parameters", () => {
  test("XMRig", () => {
    const line = lineOf("XmrigMiner", { parameters: "-t 4 --cpu-priority '2'" });
    expect(line.argv).toEqual(
      "--http-host 127.0.0.1 --http-port 4444 --http-access-token t0k3n --no-color -a rx/0 -o stratum+tcp://pool.example.com:3333 -u 0xabc --rig-id rig1 -t 4 --cpu-priority 2".split(
        " ",
      ),
    );
    expect(line.shown).toEqual(line.argv.map((word) => (word === "t0k3n" ? "***" : word)));
    expect(line.environment).toEqual({ CUDA_DEVICE_ORDER: "PCI_BUS_ID" });
  });

  test("a group of pools in order of failover, each with its own scheme and password", () => {
    const pools = [somePool, { url: "ssl://[fd00::1]:443", worker: "w", wallet: "", password: "pa ss" }];
    const { argv, shown } = lineOf("TrexMiner", { algorithm: "kawpow", pools });
    expect(argv.slice(-12)).toEqual([
      "-u",
      "0xabc",
      "-p",
      "x",
      "-w",
      "rig1",
      "-o",
      "stratum+ssl://[fd00::1]:443",
      "-u",
      "w",
      "-p",
      "pa ss",
    ]);
    expect(shown.slice(-2)).toEqual(["-p", "***"]);
  });

  test("SRBMiner takes further pools joined by !, and its separators in passwords escaped", () => {
    const pools = [
      { ...somePool, password: "a!b;c" },
      { ...somePool, url: "stratum+ssl://two.example.com:1", password: "" },
    ];
    const { argv, shown } = lineOf("SrbMinerMulti", { pools });
    expect(argv.slice(4)).toEqual(
      "--disable-worker-watchdog --algorithm randomx --disable-gpu --pool pool.example.com:3333!two.example.com:1 --wallet 0xabc!0xabc --password a#!b#;c!x --worker rig1!rig1 --tls false!true"
        .split(" ")
        .slice(1),
    );
    expect(shown.join(" ")).toContain("--password ***!x");
  });

  test.each([
    [
      "LolMiner",
      "--dualmode ALEPHDUAL --dualpool pool.example.com:3333 --dualuser 0xabc --dualpass x --dualworker rig1",
    ],
    ["RigelMiner", "-o [2]stratum+tcp://pool.example.com:3333 -u [2]0xabc -p [2]x -w [2]rig1"],
    ["TeamRedMiner", "--alph -o stratum+tcp://pool.example.com:3333 -u 0xabc.rig1 -p x --alph_end"],
    ["BzMiner", "--a2 alph --p2 stratum+tcp://pool.example.com:3333 --w2 0xabc --pool_password2 x --r2 rig1"],
  ])("dual mining of %s", (id, words) => {
    const fields = { algorithm: "etchash", dualAlgorithm: "blake3-alephium", dualPools: [somePool] };
    expect(lineOf(id, fields).argv.join(" ")).toContain(words);
  });

  test("Rigel's first pool carries its number only in dual mining", () => {
    expect(lineOf("RigelMiner", { algorithm: "etchash" }).argv.join(" ")).not.toContain("[1]");
    const fields = { algorithm: "etchash", dualAlgorithm: "blake3-alephium", dualPools: [somePool] };
    expect(lineOf("RigelMiner", fields).argv.join(" ")).toContain("-a etchash+alephium -o [1]stratum+tcp://");
  });

  test("settings of GPUs become flags where the program has them", () => {
    const none = { powerLimit: null, coreClock: null, memoryClock: null, fan: null };
    const tuning = [{ ...none, powerLimit: 180.4, fan: 70 }, none, { ...none, powerLimit: 200 }];
    const argv = (id: string) => lineOf(id, { algorithm: "etchash" }, { ...options, tuning }).argv.join(" ");
    expect(argv("RigelMiner")).toMatch(/--pl 180,_,200 --fan-control 70,_,_$/);
    expect(argv("BzMiner")).toMatch(/--oc_power_limit 180 0 200 --oc_fan_speed 70 -1 -1$/);
    expect(argv("TeamRedMiner")).not.toContain("180");
  });

  test("a program that takes one pool gets the first", () => {
    const line = lineOf("CcMiner", { algorithm: "scrypt", pools: [somePool, somePool, somePool] });
    expect(line.argv.filter((word) => word === "-o")).toHaveLength(1);
  });

  test("a scheme that says more than TLS or not is passed on", () => {
    const pools = [{ ...somePool, url: "stratum2+tcp://nicehash.example.com:3353" }];
    expect(lineOf("TrexMiner", { algorithm: "ethash", pools }).argv).toContain(
      "stratum2+tcp://nicehash.example.com:3353",
    );
    expect(lineOf("GMiner", { algorithm: "ethash", pools }).argv).toContain("nicehash.example.com:3353");
  });
});

test("every mistake is named at once", () => {
  expect(
    mistakesOf("LolMiner", {
      algorithm: "etchash",
      dualAlgorithm: "randomx",
      pools: [{ url: "pool.example.com", worker: "", wallet: "", password: "--apihost=0.0.0.0" }],
      parameters: "--apiport 1",
    }),
  ).toEqual([
    'dualAlgorithm: lolMiner cannot mine "randomx" beside "etchash", only blake3-alephium, kheavyhash, sha256ton',
    "pools.0.url: is not a pool address like stratum+tcp://pool.example.com:3333",
    "pools.0: has neither a wallet nor a worker",
    "pools.0.password: must not begin with -",
    "dualPools: is empty; it needs at least one pool",
    "parameters: --apiport is set by the agent, or not allowed",
  ]);
  expect(mistakesOf("XmrigMiner", { algorithm: "scrypt", pools: [], dualAlgorithm: "kawpow" })).toEqual([
    'algorithm: XMRig cannot mine "scrypt"',
    'dualAlgorithm: XMRig cannot mine "kawpow" beside "scrypt", no second algorithm',
    "pools: is empty; it needs at least one pool",
    "dualPools: is empty; it needs at least one pool",
  ]);
  expect(
    mistakesOf("CcMiner", { algorithm: "scrypt", pools: [{ ...somePool, url: "ssl://a:1", worker: "a\nb" }] }),
  ).toEqual([
    "pools.0.url: asks for TLS, which ccminer (tpruvot) does not have",
    "pools.0.worker: contains control characters",
  ]);
});

/** Every program with each algorithm, and each pair of them. */
const cases = miningPrograms.flatMap((entry) => [
  ...Object.keys(entry.algorithms).map((algorithm) => ({ entry, algorithm, dualAlgorithm: null })),
  ...Object.entries(entry.dual).flatMap(([algorithm, seconds]) =>
    Object.keys(seconds).map((dualAlgorithm) => ({ entry, algorithm, dualAlgorithm })),
  ),
]);

const password = fc.string({ unit: fc.constantFrom(..."abcXYZ0189!;#$ "), minLength: 8, maxLength: 12 });
const pool = fc.record({
  url: fc.constantFrom(
    "pool.example.com:3333",
    "stratum+tcp://10.0.0.1:1",
    "stratum2+tcp://p.example:65535",
    "ssl://p.example:443",
  ),
  worker: fc.constantFrom("", "rig1", "a.b"),
  wallet: fc.constantFrom("0xabc", "kaspa:qr36"),
  password,
});

test("every program, algorithm and pool gives a command line without placeholders, and shown without secrets", () => {
  const secretOption = fc.constantFrom(
    "--pass",
    "-p",
    "--password",
    "--pass2",
    "--dualpass",
    "--userpass",
    "-O",
    "--api-key-x",
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.array(pool, { minLength: 1, maxLength: 3 }),
      secretOption,
      fc.constantFrom(" ", "="),
      ({ entry, algorithm, dualAlgorithm }, pools, option, separator) => {
        const plain =
          entry.command.schemes.tls === null ? pools.map((each) => ({ ...each, url: "a.example:1" })) : pools;
        // The address of a pool.
        const isNoPassword = entry.id === "BzMiner" && option === "-p";
        const extra = isNoPassword || option.startsWith("--api") ? "" : `${option}${separator}'s3cret word'`;
        const line = commandLine(
          entry,
          someProgram({ algorithm, dualAlgorithm, pools: plain, dualPools: plain, parameters: extra }),
          options,
        );
        if ("mistakes" in line) {
          // Some programs have a use of their own for one of these letters.
          expect(line.mistakes.map(({ path }) => path)).toEqual(["parameters"]);
          return;
        }
        const { argv, shown } = line;
        expect(argv.filter((word) => /[{}]/.test(word) || word.includes("undefined"))).toEqual([]);
        expect(shown).toHaveLength(argv.length);
        const text = shown.join("\n");
        for (const secret of [...plain.map((each) => each.password), options.apiToken, "s3cret word"]) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(encodeURIComponent(secret));
        }
        if (entry.api !== null) expect(argv.some((word) => word.includes("4444"))).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each([
  ["XmrigMiner", "-p hunter22", "-p ***"],
  ["XmrigMiner", "-phunter22", "-p***"],
  ["XmrigMiner", "--pass=hunter22 -t 4", "--pass=*** -t 4"],
  ["XmrigMiner", "-O me:hunter22", "-O ***"],
  ["XmrigMiner", "-o stratum+tcp://me:hunter22@pool.example:1", "-o stratum+tcp://me:***@pool.example:1"],
  ["BzMiner", "--pool_password3 hunter22 -i 20", "--pool_password3 *** -i 20"],
  ["PhoenixMiner", "-pass2 hunter22", "-pass2 ***"],
  ["XmrigMiner", "--rig-id poolpass1", "--rig-id ***"],
])("%s: parameters %s are shown as %s", (id, parameters, shown) => {
  const algorithm = Object.keys(entryOf(id).algorithms)[0] ?? "";
  const pools = [{ ...somePool, password: "poolpass1" }];
  const line = lineOf(id, { algorithm, parameters, pools });
  expect(line.shown.slice(-shown.split(" ").length).join(" ")).toBe(shown);
});

test.each(miningPrograms.filter(({ api }) => api !== null).map((each) => [each.id, each] as const))(
  "%s: no API on another address than the loopback, as far as it can be told one",
  (_, entry) => {
    const words = entry.command.api.flatMap(({ args }) => args).join(" ");
    // Programs without an option for an address: their documents name none.
    const without = ["GMiner", "SrbMinerMulti", "WildRigMulti", "NanoMiner"];
    expect(words.includes("127.0.0.1")).toBe(!without.includes(entry.id));
  },
);
