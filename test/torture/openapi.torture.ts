import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { minerFieldNames } from "../../src/contract/inputs.ts";
import { rowColumnNames } from "../../src/contract/rows.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { Verdict } from "./measure.ts";
import { type Client, checkCSharp, clients, missingFor } from "./openapi/clients.ts";
import { fromPyPi, run } from "./openapi/tools.ts";
import { type ServiceProcess, startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * Clients that other people's generators make of /openapi.json, each used on a running service, and Schemathesis, which
 * sends what the document allows and checks that the answers are as it says. Fetches the generators and their libraries
 * from npm, PyPI, Maven Central, the Go proxy and crates.io, and keeps them. Words after the file's name run some parts
 * alone: `node test/torture/openapi.torture.ts ogen schemathesis`.
 */
const key = "the-key-of-the-service";
const verdict = new Verdict();
const folder = await mkdtemp(join(tmpdir(), "rigbridge-openapi-"));
const words = process.argv.slice(2).filter((word) => !/^[0-9.]+$/.test(word));
const isWanted = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word));

/** A folder for one part, with the document of the service. */
async function folderOf(name: string, service: ServiceProcess): Promise<string> {
  const made = join(folder, name.replaceAll(" ", "-"));
  await mkdir(made);
  await writeFile(join(made, "openapi.json"), (await service.ask("GET", "/openapi.json")).text);
  return made;
}

/** What a program of clients must have seen; those in other languages than TypeScript and Python look at less. */
const Seen = z.strictObject({
  ids: z.tuple([z.literal(1_000_000_001), z.literal(1_000_000_002)]),
  model: z.literal("rig 0"),
  action: z.literal(true),
  refused: z.tuple([z.literal(404), z.literal("not.found")]),
  controls: z.array(z.string()).optional(),
  step: z.literal(120).optional(),
  group: z.literal("made by a client").optional(),
  removed: z.literal(true).optional(),
});

async function useClient(client: Client, service: ServiceProcess): Promise<void> {
  say(`-- ${client.name}`);
  const missing = missingFor(client);
  if (missing !== null) return say(`skipped ${client.name}: ${missing}`);
  const printed = await client.use(await folderOf(client.name, service), `http://127.0.0.1:${service.port}`, key);
  const seen = Seen.safeParse(printed === null ? null : JSON.parse(printed.trim().split("\n").at(-1) ?? "null"));
  const detail = (await service.ask("GET", "/api/miners/1000000001")).text.match(/"key":"\w+"/g) ?? [];
  const controls = detail.map((text) => text.slice(7, -1));
  const sameControls = JSON.stringify(seen.data?.controls ?? controls) === JSON.stringify(controls);
  if (!seen.success || !sameControls) say(`it saw ${printed}`);
  verdict.check(`${client.name}: reads, acts, and bears a refusal`, seen.success && sameControls);
}

/** Rules between fields (one of two, none without another) are not in JSON Schema, so what it takes as valid may be refused. */
async function schemathesis(service: ServiceProcess): Promise<void> {
  say("-- Schemathesis");
  const bin = await fromPyPi("schemathesis");
  const cwd = await folderOf("schemathesis", service);
  await writeFile(join(cwd, "schemathesis.toml"), refusals + wholeAnswers);
  const printed =
    bin &&
    (await run(
      join(bin, "schemathesis"),
      [
        ...["run", "openapi.json", "--url", `http://127.0.0.1:${service.port}`, "-H", `X-API-Key: ${key}`],
        ...["--phases", "coverage,fuzzing", "--max-examples", "20", "--exclude-operation-id", "watchEvents"],
        ...["--exclude-operation-id", "watchMinerRows", "--exclude-checks", "positive_data_acceptance", "--no-color"],
      ],
      { cwd },
    ));
  const cases = /^ *(\d+) generated.*$/m.exec(printed ?? "")?.[0].trim() ?? "";
  verdict.check(`Schemathesis: every answer is as the document says (${cases})`, printed !== null);
}

/** The service refuses a body or an address that is too large before reading it; Schemathesis does not count these refusals by default. */
const refusals = `[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431, "5xx"]

`;

/** With `fields` an answer holds less than its schema says, and is meant to; so all of them are asked for. */
const wholeAnswers = Object.entries({ "/api/miners": minerFieldNames, "/api/miners/rows": rowColumnNames })
  .map(
    ([path, fields]) =>
      `[[operations]]\ninclude-name = "GET ${path}"\nparameters = { "query.fields" = "${fields.join(",")}" }\n`,
  )
  .join("\n");

const farm = await startFarm({
  rigs: [
    { kind: "axeos", warm: true, host: "127.109.1.1" },
    { kind: "cgminer", dialect: "bmminer", warm: true, host: "127.109.1.2" },
  ],
});
const service = await startProcess({
  config: {
    http: { key },
    miners: farm.rigs.map(({ address }, index) => ({ address, name: `rig ${index}` })),
    groups: [{ name: "alpha" }],
    pools: [{ name: "alpha", url: "stratum+tcp://alpha.example:1" }],
    users: [{ name: "anna", groups: ["alpha"] }],
    scan: { networks: ["127.109.9.0/30"] },
  },
});
try {
  for (const client of clients) if (isWanted(client.name)) await useClient(client, service);
  if (isWanted("openapi-generator csharp")) {
    say("-- openapi-generator csharp");
    const { made, skipped } = await checkCSharp(await folderOf("csharp", service));
    verdict.check(`openapi-generator csharp: is generated${skipped === undefined ? " and compiles" : ""}`, made);
    if (skipped !== undefined) say(`skipped compiling it: ${skipped}`);
  }
  if (isWanted("schemathesis")) await schemathesis(service);
} finally {
  await service.close();
  await farm.close();
  await rm(folder, { recursive: true, force: true });
}
verdict.end();
