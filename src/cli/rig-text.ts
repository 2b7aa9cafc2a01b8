import type { Control, RigReadings } from "../contract/readings.ts";
import { drivers } from "../link/drivers/index.ts";
import { formatFor } from "../units/format.ts";
import type { RigReport } from "./read.ts";
import { hanging, indented, pairs, printable, table } from "./table.ts";

const format = formatFor({ locale: "en-US", currency: "USD" });

/** A rig as a person reads it on a terminal; what it does not say is left out. */
export function rigText(report: RigReport, address: string): string {
  const { driver, identity, readings, reason, pools, controls, locked } = report;
  const { make, model } = identity;
  // Most models are named with their make already.
  const parts = make !== null && model?.startsWith(make) ? [model] : [make, model];
  const what = parts.filter((text) => text !== null).join(" ");
  const facts: [string, string | null][] = [
    ["Driver", driver],
    ["Firmware", identity.firmware],
    ["MAC", identity.mac],
    ["Host name", identity.hostname],
    ["Serial", identity.serial],
  ];
  const sections = [
    `${printable(what === "" ? "A rig" : what)} at ${address}`,
    indented(pairs(known([...facts, ...figures(readings)]))),
    section("Boards", boardHead, boardRows(readings)),
    section("Fans", ["Fan", "Speed", "Power"], fanRows(readings)),
    list("Pools", poolLines(pools)),
    section("Controls", ["Control", "Now", "Takes"], controls.map(controlRow)),
    list("Why it does not hash", reason === null ? [] : [textLine(`${reason.code}: ${reason.text}`)]),
    list(
      "Errors",
      readings.errors.map(({ code, text }) => textLine(`${code}: ${text}`)),
    ),
    list("Notes", readings.notes.map(textLine)),
    list("What helps", advice(driver, readings, locked).map(textLine)),
  ];
  return sections.filter((text) => text !== "").join("\n");
}

/** What to do about what the rig does not say, and does not take. */
function advice(driver: string, { power }: RigReport["readings"], locked: RigReport["locked"]): string[] {
  const keys = drivers.find(({ id }) => id === driver)?.login?.keys ?? [];
  const options = keys.map((key) => `--${key} (or RIGBRIDGE_${key.toUpperCase()})`);
  const wantsLogin = locked !== undefined && locked.why !== "read-only" && options.length > 0;
  return [
    ...(wantsLogin
      ? [`Its login: ${options.join(" and ")}; the same keys stand in the configuration and POST /api/miners`]
      : []),
    ...(power === null
      ? ["It does not say its power: a plug that measures it (supply), or powerNameplate in the configuration, does"]
      : []),
  ];
}

const section = (title: string, head: string[], rows: string[][]): string =>
  rows.length === 0 ? "" : `\n${title}\n${indented(table(head, rows))}`;

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${indented(lines.join("\n"))}`;

const textLine = (text: string): string => hanging("", printable(text));

const known = (facts: readonly [string, string | null][]): [string, string][] =>
  facts.flatMap(([name, text]): [string, string][] => (text === null ? [] : [[name, text]]));

function figures(readings: RigReadings): [string, string | null][] {
  const { hashrate, hashrateAverage, hashrateExpected, power, powerLimit, powerSource, shares, uptime } = readings;
  return [
    ["Mining", readings.mining === null ? null : yes(readings.mining)],
    ["Mode", readings.mode],
    ["Algorithm", readings.algorithm],
    [
      "Hash rate",
      joined([
        figure(hashrate, format.hashrate),
        said(hashrateAverage, format.hashrate, "on average"),
        said(hashrateExpected, format.hashrate, "expected"),
      ]),
    ],
    [
      "Power",
      joined([figure(power, watts), power === null ? "" : (powerSource ?? ""), said(powerLimit, watts, "allowed")]),
    ],
    [
      "Temperature",
      joined([
        figure(readings.temperature, celsius),
        said(readings.temperatureIn, celsius, "in"),
        said(readings.temperatureOut, celsius, "out"),
      ]),
    ],
    [
      "Shares",
      joined([
        said(shares.accepted, format.grouped, "accepted"),
        said(shares.rejected, format.grouped, "rejected"),
        said(shares.hardwareErrors, format.grouped, "hardware errors"),
      ]),
    ],
    ["Best share", figure(readings.bestShare, format.grouped) || null],
    ["Found blocks", figure(readings.foundBlocks, format.grouped) || null],
    ["Running for", figure(uptime, format.duration) || null],
  ];
}

const boardHead = ["Board", "Hash rate", "Temperature", "Chip", "Chips", "Frequency", "Voltage"];

const boardRows = ({ boards }: RigReadings): string[][] =>
  boards.map((board) => [
    `${board.slot}`,
    figure(board.hashrate, format.hashrate),
    figure(board.temperature, celsius),
    figure(board.chipTemperature, celsius),
    [board.chips, board.chipsExpected].filter((count) => count !== null).join(" of "),
    figure(board.frequency, (hertz) => `${format.grouped(hertz / 1e6)} MHz`),
    figure(board.voltage, (volts) => `${format.decimal(volts)} V`),
  ]);

const fanRows = ({ fans }: RigReadings): string[][] =>
  fans.map(({ rpm, percent }, index) => [
    `${index}`,
    figure(rpm, (speed) => `${format.grouped(speed)} rpm`),
    figure(percent, (part) => `${format.grouped(part)} %`),
  ]);

/** An address and a worker, which may be a wallet, are too long for the columns of one line. */
const poolLines = (pools: RigReport["pools"]): string[] =>
  [...pools]
    .sort((a, b) => a.priority - b.priority)
    .flatMap((pool) => {
      const figures = [
        pool.active ? "active" : pool.status,
        said(pool.accepted, format.grouped, "accepted"),
        said(pool.rejected, format.grouped, "rejected"),
      ];
      return [pool.url, pool.worker, joined(figures) ?? ""]
        .filter((text) => text !== "")
        .map((text, index) => hanging((index === 0 ? `${pool.priority}` : "").padEnd(3), printable(text)));
    });

const controlRow = (control: Control): string[] => [control.key, controlValue(control), takes(control)];

function controlValue({ value, unit }: Control): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "number" && unit !== null ? `${value} ${unit}` : `${value}`;
}

function takes({ kind, min, max, unit, options }: Control): string {
  const words = (options ?? []).map((option) => (typeof option === "string" ? option : option.label));
  if (kind === "trigger") return "";
  if (kind === "switch") return "on, off";
  return kind === "range"
    ? [`${min ?? ""} to ${max ?? ""} ${unit ?? ""}`.trim(), ...words].join(", ")
    : words.join(", ");
}

const watts = (power: number): string => format.power(power);
const celsius = (degrees: number): string => `${format.grouped(Math.round(degrees))} °C`;
const yes = (is: boolean): string => (is ? "yes" : "no");

/** Nothing for what the rig does not say. */
const figure = (value: number | null, text: (value: number) => string): string => (value === null ? "" : text(value));
const said = (value: number | null, text: (value: number) => string, word: string): string =>
  value === null ? "" : `${text(value)} ${word}`;

const joined = (parts: readonly string[]): string | null => parts.filter((part) => part !== "").join(", ") || null;
