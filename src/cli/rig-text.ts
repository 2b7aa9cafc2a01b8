import type { Control, Identity, RigReadings } from "../contract/readings.ts";
import type { Halt, Locked, Reading } from "../link/driver.ts";
import { drivers } from "../link/drivers/index.ts";
import { formatFor } from "../units/format.ts";
import { hanging, indented, pairs, printable, table } from "./table.ts";

const format = formatFor({ locale: "en-US", currency: "USD" });

/** The result of one read. */
export interface RigReport {
  /** Id of the driver that reads it. */
  readonly driver: string;
  readonly identity: Identity;
  readonly readings: Reading["readings"];
  /** Why the rig is not hashing; null while it is. */
  readonly reason: Halt | null;
  readonly pools: readonly ReportedPool[];
  readonly controls: Reading["controls"];
  /** Its graphics cards; absent where it has none. */
  readonly cards?: Reading["devices"];
  /** Why further controls are missing; absent if none are. */
  readonly locked?: Locked;
}

type ReportedPool = Pick<
  Reading["pools"][number],
  "url" | "worker" | "status" | "active" | "priority" | "quota" | "accepted" | "rejected" | "stale"
>;

/** A rig as text for the terminal; unreported values are left out. */
export function rigText(report: RigReport, address: string): string {
  const { driver, identity, readings, reason, pools, controls, cards = [], locked } = report;
  const { make, model } = identity;
  // Most models begin with their make.
  const parts = make !== null && model?.startsWith(make) ? [model] : [make, model];
  const what = parts.filter((text) => text !== null).join(" ");
  const facts: [string, string | null][] = [
    ["Driver", driver],
    ["Firmware", identity.firmware],
    ["MAC", identity.mac],
    ["Host name", identity.hostname],
    ["Serial", identity.serial],
  ];
  const lines = [...facts, ...readingLines(readings)].map(([name, text]): [string, string] => [name, text ?? ""]);
  const { boards, fans, errors, notes } = readingTexts;
  const sections = [
    `${printable(what === "" ? "A rig" : what)} at ${address}`,
    indented(pairs(lines.filter(([, text]) => text !== ""))),
    boards.section(readings),
    section("Cards", cardHead, cards.map(cardRow)),
    fans.section(readings),
    list("Pools", poolLines(pools)),
    section("Controls", ["Control", "Now", "Accepts"], controls.map(controlRow)),
    list("Why it is not hashing", reason === null ? [] : [textLine(`${reason.code}: ${reason.text}`)]),
    errors.section(readings),
    notes.section(readings),
    list("What to do", advice(driver, readings, locked).map(textLine)),
  ];
  return sections.filter((text) => text !== "").join("\n");
}

/** Advice about missing readings and controls. */
function advice(driver: string, { power }: RigReport["readings"], locked: RigReport["locked"]): string[] {
  const keys = drivers.find(({ id }) => id === driver)?.login?.keys ?? [];
  const options = keys.map((key) => `--${key} (or RIGBRIDGE_${key.toUpperCase()})`);
  const wantsLogin = locked !== undefined && locked.why !== "read-only" && options.length > 0;
  return [
    ...(wantsLogin
      ? [`Give its login with ${options.join(" and ")}; the configuration and POST /api/miners have the same keys`]
      : []),
    ...(power === null
      ? ["It does not report its power; add a metering plug (supply) or powerNameplate to the configuration"]
      : []),
  ];
}

const section = (title: string, head: string[], rows: string[][]): string =>
  rows.length === 0 ? "" : `\n${title}\n${indented(table(head, rows))}`;

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${indented(lines.join("\n"))}`;

const textLine = (text: string): string => hanging("", printable(text));

type Text = (readings: RigReadings) => string;

/**
 * The display of each reading: as a part of a line, in the order of this map, or in its own section; null for neither.
 * A new reading does not compile until it is added here.
 */
const readingTexts = {
  mining: { line: "Mining", text: ({ mining }) => (mining === null ? "" : mining ? "yes" : "no") },
  mode: { line: "Mode", text: ({ mode }) => mode ?? "" },
  algorithm: { line: "Algorithm", text: ({ algorithm }) => algorithm ?? "" },
  hashrate: { line: "Hash rate", text: ({ hashrate }) => figure(hashrate, format.hashrate) },
  hashrateAverage: { line: "Hash rate", text: (r) => figure(r.hashrateAverage, format.hashrate, "on average") },
  hashrateExpected: { line: "Hash rate", text: (r) => figure(r.hashrateExpected, format.hashrate, "expected") },
  dual: {
    line: "Second algorithm",
    text: ({ dual }) => (dual === null ? "" : joined([dual.algorithm ?? "", figure(dual.hashrate, format.hashrate)])),
  },
  proxy: {
    line: "Workers",
    text: ({ proxy }) =>
      proxy === null
        ? ""
        : joined([
            figure(proxy.workers, format.grouped),
            figure(proxy.connections, format.grouped, "connected"),
            figure(proxy.upstreams, format.grouped, "connections to pools"),
            figure(proxy.upstreamsFailing, format.grouped, "failing"),
          ]),
  },
  power: { line: "Power", text: ({ power }) => figure(power, format.power) },
  powerSource: { line: "Power", text: ({ power, powerSource }) => (power === null ? "" : (powerSource ?? "")) },
  powerLimit: { line: "Power", text: ({ powerLimit }) => figure(powerLimit, format.power, "limit") },
  temperature: { line: "Temperature", text: ({ temperature }) => figure(temperature, celsius) },
  temperatureIn: { line: "Temperature", text: ({ temperatureIn }) => figure(temperatureIn, celsius, "in") },
  temperatureOut: { line: "Temperature", text: ({ temperatureOut }) => figure(temperatureOut, celsius, "out") },
  shares: { line: "Shares", text: ({ shares }) => sharesText(shares) },
  bestShare: { line: "Best share", text: ({ bestShare }) => figure(bestShare, format.grouped) },
  foundBlocks: { line: "Found blocks", text: ({ foundBlocks }) => figure(foundBlocks, format.grouped) },
  uptime: { line: "Running for", text: ({ uptime }) => figure(uptime, format.duration) },
  locate: null,
  psu: null,
  boards: { section: ({ boards }) => section("Boards", boardHead, boards.map(boardRow)) },
  fans: { section: ({ fans }) => section("Fans", ["Fan", "Speed", "Power"], fans.map(fanRow)) },
  errors: {
    section: ({ errors }) =>
      list(
        "Errors",
        errors.map(({ code, text }) => textLine(`${code}: ${text}`)),
      ),
  },
  notes: { section: ({ notes }) => list("Notes", notes.map(textLine)) },
} satisfies Record<
  keyof RigReadings,
  { readonly line: string; readonly text: Text } | { readonly section: Text } | null
>;

function readingLines(readings: RigReadings): [string, string][] {
  const lines = new Map<string, string[]>();
  for (const shown of Object.values(readingTexts)) {
    if (shown === null || !("line" in shown)) continue;
    lines.set(shown.line, [...(lines.get(shown.line) ?? []), shown.text(readings)]);
  }
  return [...lines].map(([name, parts]) => [name, joined(parts)]);
}

const sharesText = ({ accepted, rejected, hardwareErrors }: RigReadings["shares"]): string =>
  joined([
    figure(accepted, format.grouped, "accepted"),
    figure(rejected, format.grouped, "rejected"),
    figure(hardwareErrors, format.grouped, "hardware errors"),
  ]);

const boardHead = ["Board", "Hash rate", "Temperature", "Chip", "Chips", "Frequency", "Voltage"];

const boardRow = (board: RigReadings["boards"][number]): string[] => [
  `${board.slot}`,
  figure(board.hashrate, format.hashrate),
  figure(board.temperature, celsius),
  figure(board.chipTemperature, celsius),
  [board.chips, board.chipsExpected].filter((count) => count !== null).join(" of "),
  figure(board.frequency, (hertz) => `${format.grouped(hertz / 1e6)} MHz`),
  figure(board.voltage, (volts) => `${format.decimal(volts)} V`),
];

const cardHead = ["Bus", "Card", "State", "Hash rate", "Temperature", "Memory", "Fan", "Power"];

const cardRow = (card: Reading["devices"][number]): string[] => [
  figure(card.bus, String),
  printable(card.name),
  card.status,
  figure(card.hashrate, format.hashrate),
  figure(card.temperature, celsius),
  figure(card.memoryTemperature, celsius),
  joined([
    figure(card.fanRpm, (speed) => `${format.grouped(speed)} rpm`),
    figure(card.fanPercent, (part) => `${format.grouped(part)} %`),
  ]),
  figure(card.power, format.power),
];

const fanRow = ({ rpm, percent }: RigReadings["fans"][number], index: number): string[] => [
  `${index}`,
  figure(rpm, (speed) => `${format.grouped(speed)} rpm`),
  figure(percent, (part) => `${format.grouped(part)} %`),
];

/** Address and worker each on a line, since a worker may be a wallet address. */
const poolLines = (pools: RigReport["pools"]): string[] =>
  [...pools]
    .sort((a, b) => a.priority - b.priority)
    .flatMap((pool) => {
      const figures = [
        pool.active ? "active" : pool.status,
        figure(pool.accepted, format.grouped, "accepted"),
        figure(pool.rejected, format.grouped, "rejected"),
      ];
      return [pool.url, pool.worker, joined(figures)]
        .filter((text) => text !== "")
        .map((text, index) => hanging((index === 0 ? `${pool.priority}` : "").padEnd(3), printable(text)));
    });

const controlRow = (control: Control): string[] => [
  control.key,
  controlValue(control),
  accepted[control.kind](control),
];

function controlValue({ value, unit }: Control): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "number" && unit !== null ? `${value} ${unit}` : `${value}`;
}

const words = ({ options }: Control): string[] =>
  (options ?? []).map((option) => (typeof option === "string" ? option : option.label));

/** The values that a control accepts. */
const accepted = {
  trigger: () => "",
  switch: () => "on, off",
  range: (control) => {
    const { min, max, unit } = control;
    return [`${min ?? ""} to ${max ?? ""} ${unit ?? ""}`.trim(), ...words(control)].join(", ");
  },
  choice: (control) => words(control).join(", "),
} satisfies Record<Control["kind"], (control: Control) => string>;

const celsius = (degrees: number): string => `${format.grouped(Math.round(degrees))} °C`;

/** With the label of the figure, if given; empty for a value that the rig does not report. */
const figure = (value: number | null, text: (value: number) => string, what = ""): string =>
  value === null ? "" : `${text(value)} ${what}`.trimEnd();

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join(", ");
