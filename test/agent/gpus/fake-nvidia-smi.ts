import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "../../finished.ts";

export interface NvidiaScenario {
  /** Answers of each card by field, in the spelling of nvidia-smi. */
  readonly cards: readonly Readonly<Record<string, string>>[];
  /** Fields that this driver does not know. */
  readonly unknownFields?: readonly string[];
  /** Printed in place of any answer to a call for all cards, with `code`. */
  readonly failure?: string;
  readonly code?: number;
  /** It never ends. */
  readonly hangs?: boolean;
  /** Settings that it refuses, such as "-pl", with what it prints. */
  readonly refuses?: Readonly<Record<string, string>>;
}

export const card = (bus: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  "pci.bus_id": `00000000:${bus}:00.0`,
  name: "NVIDIA GeForce RTX 3080",
  driver_version: "550.120",
  "temperature.gpu": "61",
  "temperature.memory": "88",
  "fan.speed": "70",
  "utilization.gpu": "100",
  "power.draw": "219.87",
  "power.limit": "224.00",
  "power.default_limit": "320.00",
  "clocks.gr": "1440",
  "clocks.mem": "10251",
  "memory.total": "10240",
  ...more,
});

/** An executable nvidia-smi in a folder of its own, which is the whole PATH of the reader under test. */
export class FakeNvidiaSmi {
  readonly env: NodeJS.ProcessEnv;
  readonly #folder = mkdtempSync(join(tmpdir(), "nvidia-smi-"));

  constructor(scenario: NvidiaScenario) {
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    this.env = { PATH: this.#folder };
    const file = join(this.#folder, "nvidia-smi");
    writeFileSync(file, `#!${process.execPath}\n${program}`);
    chmodSync(file, 0o755);
    this.now(scenario);
  }

  now(scenario: NvidiaScenario): void {
    writeFileSync(join(this.#folder, "scenario.json"), JSON.stringify(scenario));
  }

  /** The arguments of every call so far. */
  calls(): string[][] {
    const file = join(this.#folder, "calls");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as string[]);
  }
}

const program = `
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const { join, dirname } = require("node:path");
const folder = dirname(process.argv[1]);
const args = process.argv.slice(2);
const file = join(folder, "scenario.json");
const scenario = JSON.parse(readFileSync(file, "utf8"));
appendFileSync(join(folder, "calls"), JSON.stringify(args) + "\\n");
const end = (text, code) => { process.stdout.write(text, () => process.exit(code)); };
const idOf = (arg) => arg?.startsWith("--id=") ? arg.slice(5).toLowerCase().split(",") : null;
const slot = (card) => card["pci.bus_id"].toLowerCase().slice(-12);
const ids = args.map(idOf).find((each) => each !== null) ?? null;
const chosen = scenario.cards.filter((card) => ids === null || ids.includes(slot(card)));
if (scenario.hangs) setInterval(() => {}, 1000);
else if (args.some((arg) => arg.startsWith("--query-gpu="))) {
  const fields = args.find((arg) => arg.startsWith("--query-gpu=")).slice(12).split(",");
  const unknown = fields.find((field) => (scenario.unknownFields ?? []).includes(field));
  if (unknown) end('Field "' + unknown + '" is not a valid field to query.\\n\\n', 2);
  else if (scenario.failure !== undefined && ids === null) end(scenario.failure + "\\n", scenario.code ?? 0);
  else end(chosen.map((card) => fields.map((field) => card[field] ?? "[N/A]").join(", ") + "\\n").join(""), 0);
} else {
  const [, option, value] = args;
  const name = option.split("=")[0];
  const refusal = scenario.refuses?.[name];
  if (refusal !== undefined) end(refusal + "\\n", 2);
  else {
    if (name === "--power-limit") for (const card of chosen) card["power.limit"] = option.split("=")[1];
    writeFileSync(file, JSON.stringify(scenario));
    end("All done.\\n", 0);
  }
}
`;
