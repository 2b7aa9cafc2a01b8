import type { Control, RigReadings } from "../../src/contract/readings.ts";
import type { Driver, Reading } from "../../src/link/driver.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { openLink } from "../../src/link/link.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { type Specimen, specimens } from "./specimens.ts";

/** The text of docs/devices.md: every specimen is read by its driver, and what came of it is written down. */
export async function devicesText(): Promise<string> {
  // What rigs draw moves a little with time, and limits that follow from it too.
  const clock = () => 1_800_000_000_000;
  const farm = await startFarm({ rigs: specimens.map(({ spec }) => ({ ...spec, warm: true })), clock });
  try {
    const sections: string[] = [];
    for (const [index, specimen] of specimens.entries()) {
      const { host = "", port = 0 } = farm.rigs[index] ?? {};
      sections.push(sectionOf(specimen, await readOf(specimen, host, port)));
    }
    return `${head}\n${sections.join("\n")}`;
  } finally {
    await farm.close();
  }
}

const driverOf = ({ driver }: Specimen): Driver => {
  const found = drivers.find(({ id }) => id === driver);
  if (found === undefined) throw new Error(`there is no driver ${driver}`);
  return found;
};

/** Twice: some of it is asked only now and then. */
async function readOf(specimen: Specimen, host: string, port: number): Promise<Reading> {
  const link = openLink({ host, port, tls: false }, specimen.credentials ?? {});
  const rig = driverOf(specimen).connect(link);
  try {
    await rig.read(AbortSignal.timeout(20_000));
    return await rig.read(AbortSignal.timeout(20_000));
  } finally {
    rig.close();
  }
}

const head = `# Devices

What Rigbridge reads of each family and what it can tell it. Made by \`npm run devices -- --write\` from what each driver
reads and offers on a virtual rig of that family; your rig's own \`controls\` say what it can be told. "Lasts" is still set
after the rig restarts, "restarts" interrupts the mining; the seconds are those until the rig works that way.

Evidence: \`ran\` = tried with the real software, \`recorded\` = what a real device answered, \`vendor document\`, \`other
source\`. None of it was tried on real hardware yet; [tell us](../README.md) what yours does.
`;

function sectionOf(specimen: Specimen, reading: Reading): string {
  const { id, name, evidence } = driverOf(specimen);
  const login = specimen.credentials === undefined ? "" : ", with its login";
  const read = readingsIn(reading.readings);
  const missing = Object.keys(reading.readings).filter((key) => !read.includes(key) && shownMissing.has(key));
  return [
    `## ${specimen.rigs}`,
    "",
    `Driver \`${id}\` (${name})${login}. Readings: ${evidence.readings}. Controls: ${evidence.controls}.`,
    "",
    `**Reads** ${read.join(", ")}.${missing.length === 0 ? "" : ` **Does not say** ${missing.join(", ")}.`}`,
    "",
    ...controlsTable(reading.controls),
    `**Pools**: ${reading.poolActions.length === 0 ? "shown only" : reading.poolActions.join(", ")}.`,
    "",
  ].join("\n");
}

const shownMissing: ReadonlySet<string> = new Set([
  "hashrate",
  "hashrateExpected",
  "power",
  "powerLimit",
  "temperature",
  "boards",
  "fans",
  "uptime",
  "mining",
]);

/** The names of what is not unknown. */
const readingsIn = (readings: RigReadings): string[] =>
  Object.entries(readings).flatMap(([key, value]) => (isKnown(value) && key !== "notes" ? [key] : []));

const isKnown = (value: unknown): boolean => {
  if (value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.values(value).some((each) => each !== null);
};

function controlsTable(controls: readonly Control[]): string[] {
  if (controls.length === 0) return ["**Can be told** nothing.", ""];
  const rows = controls.map(
    (control) =>
      `| \`${control.key}\` | ${takes(control)} | ${yes(control.lasting)} | ${yes(control.restartsMining)} | ${control.seconds} s |`,
  );
  return ["| control | takes | lasts | restarts | takes effect |", "| --- | --- | --- | --- | --- |", ...rows, ""];
}

const yes = (is: boolean): string => (is ? "yes" : "no");

function takes({ kind, min, max, step, unit, options }: Control): string {
  const words = (options ?? []).map((option) => (typeof option === "string" ? option : option.label));
  if (kind === "range") return [`${min} to ${max} ${unit ?? ""}, steps of ${step}`, ...words].join("; ");
  if (kind === "choice") return words.length > 8 ? `${words.slice(0, 8).join(", ")}, ...` : words.join(", ");
  return kind === "switch" ? "on, off" : "once";
}
