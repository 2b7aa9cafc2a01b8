import { networkInterfaces } from "node:os";
import { Command } from "commander";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import { listenForRigs } from "../discovery/announced-rigs.ts";
import { type OwnNetworks, ownNetworks, parseNetworks, planSearch, type SearchPlan } from "../link/networks.ts";
import { usualPorts } from "../link/ports.ts";
import { type Announced, describeRig, type FoundRig, type Progress, remarkOn, scan } from "../link/scan.ts";
import { defaultFile } from "./default-files.ts";
import { failing } from "./failure.ts";
import { examples } from "./service-options.ts";
import { counted, indented, printable, table } from "./table.ts";

interface ScanOptions {
  readonly yes?: boolean;
  readonly ports?: string;
  readonly json?: true;
  readonly mdns?: boolean;
}

export function scanCommand(): Command {
  return new Command("scan")
    .description("Searches networks for rigs; needs no running service.")
    .argument(
      "[networks...]",
      "such as 192.168.1.0/24, 192.168.1.10-192.168.1.80 or a single address; append :port to try one more port " +
        "(default: this machine's own networks)",
    )
    .option("--yes", "also search networks that are larger than a /16 or not private")
    .option(
      "--ports <list>",
      "more ports to try on every address, such as 8080,8081; XMRig and some other mining programs have no default port",
    )
    .option("--mdns", "also listen for rigs that announce themselves (default: if no network is given)")
    .option("--no-mdns", "do not listen for announcements")
    .option("--json", "print JSON")
    .addHelpText("after", examples("rigbridge scan 192.168.1.0/24"))
    .action(failing(scanNetworks));
}

async function scanNetworks(networks: readonly string[], options: ScanOptions): Promise<void> {
  const own = ownNetworks(networkInterfaces());
  const plan = planOf(networks, own, options);
  if (networks.length === 0) for (const note of own.notes) console.error(note);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  // Ctrl-C arrives twice: from the terminal and from npm.
  process.on("SIGINT", stop);
  const search = new Search(plan, stopping.signal);
  const listens = options.mdns ?? networks.length === 0;
  await search.run(listens ? own.addresses : []);
  process.off("SIGINT", stop);
  if (stopping.signal.aborted) process.exitCode = 130;
  console.log(
    options.json ? JSON.stringify(search.found().map(asJson), null, 2) : resultText(search.found(), search.progress),
  );
}

const asJson = (rig: FoundRig) => {
  const { address, driver, identity } = rig;
  return { address, driver, identity, note: remarkOn(rig) };
};

/** Throws `input.invalid` for networks that cannot be searched, `not.possible` when there is nothing to search. */
function planOf(networks: readonly string[], own: OwnNetworks, { ports, yes = false }: ScanOptions): SearchPlan {
  const extra = ports === undefined ? [] : ports.split(",").map(portNumber);
  const parsed = networks.length === 0 ? own.networks : parseNetworks(networks);
  if (parsed.length === 0) {
    throw new RigbridgeError(
      "not.possible",
      "This machine is not in a private network; name one to search, as in: rigbridge scan 192.168.1.0/24",
    );
  }
  return planSearch(parsed, { ports: [...new Set([...usualPorts, ...extra])], yes });
}

function portNumber(text: string): number {
  const port = /^ *[0-9]{1,5} *$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw invalid("--ports", "must be numbers from 1 to 65535, separated by commas");
  return port;
}

/** One search, with its progress on stderr. */
class Search {
  readonly #plan: SearchPlan;
  readonly #signal: AbortSignal;
  readonly #bar = new ProgressBar();
  readonly #found: FoundRig[] = [];
  #progress: Progress;

  constructor(plan: SearchPlan, signal: AbortSignal) {
    this.#plan = plan;
    this.#signal = signal;
    this.#progress = { scanned: 0, total: plan.total };
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Sorted by address. */
  found(): FoundRig[] {
    return this.#found.toSorted((a, b) => a.address.localeCompare(b.address, "en", { numeric: true }));
  }

  /** Also listens at these addresses of this machine for rigs that announce themselves. */
  async run(interfaces: readonly string[]): Promise<void> {
    // The bar moves even while nothing answers.
    const frames = setInterval(() => this.#show(), frameIntervalMs);
    try {
      await scan({
        plan: this.#plan,
        announced: this.#announced(interfaces),
        signal: this.#signal,
        quotes: true,
        found: (rig) => this.#found.push(rig),
        progress: (progress) => {
          this.#progress = progress;
        },
      });
    } finally {
      clearInterval(frames);
      this.#bar.clear();
    }
  }

  async #announced(interfaces: readonly string[]): Promise<readonly Announced[]> {
    if (interfaces.length === 0) return [];
    const { announced, notes } = await listenForRigs({ interfaces, signal: this.#signal });
    for (const note of notes) console.error(note);
    return announced;
  }

  #show(): void {
    const { scanned, total } = this.#progress;
    const text = `${thousands(scanned)} of ${addresses(total)}, ${counted(this.#found.length, "rig")} found`;
    this.#bar.show(scanned / total, text);
  }
}

function resultText(found: readonly FoundRig[], progress: Progress): string {
  const { scanned, total } = progress;
  const where = scanned < total ? `${thousands(scanned)} of ${addresses(total)} (stopped)` : addresses(total);
  if (found.length === 0) return [`No rigs found in ${where}.`, ...advice].join("\n");
  const rows = found.map((rig) => [
    rig.address,
    describeRig(rig.identity),
    rig.driver ?? "",
    rig.identity.mac ?? "",
    rig.identity.hostname ?? "",
    remarkOn(rig) ?? "",
  ]);
  return [
    `${counted(found.length, "rig")} found in ${where}:\n`,
    indented(table(["Address", "Rig", "Driver", "MAC", "Host name", "Note"], rows)),
    ...declaration(found),
  ].join("\n");
}

const advice = [
  "",
  "What to try:",
  "  - Rigs that are off or in another network are not found; search that network: rigbridge scan 192.168.2.0/24",
  "  - XMRig has no default port; append the one in its --http-port: rigbridge scan 192.168.1.0/24:8080",
  "  - See what a single address answers: rigbridge read ADDRESS",
];

/** The configuration lines that add them. */
function declaration(found: readonly FoundRig[]): string[] {
  const miners = found.filter(({ driver }) => driver !== null).map((rig) => `  - { ${fields(rig).join(", ")} }`);
  if (miners.length === 0) return [];
  return [`\nTo add to ${defaultFile}:\n`, indented(["miners:", ...miners].join("\n"))];
}

function fields({ address, identity: { hostname }, login }: FoundRig): string[] {
  const name = hostname !== null && /^[\w .-]{1,64}$/.test(hostname) ? [`name: "${hostname}"`] : [];
  const secrets = (login?.keys ?? []).map((key) => `${key}: "${placeholders[key]}"`);
  return [`address: "${address}"`, ...name, ...secrets];
}

const placeholders = { username: "its user name", password: "its password", token: "its access token" } as const;

const thousands = (count: number): string => count.toLocaleString("en-US");
const addresses = (count: number): string => `${thousands(count)} address${count === 1 ? "" : "es"}`;

/** Interval of lines if the output is not a terminal, and of the bar's frames if it is. */
const lineIntervalMs = 5_000;
const frameIntervalMs = 100;
const barWidth = 24;

/** Progress on stderr: a moving bar on a terminal, otherwise a line every few seconds. */
class ProgressBar {
  readonly #stream = process.stderr;
  #shownAt = this.#stream.isTTY ? Number.NEGATIVE_INFINITY : performance.now();

  /** `share` is from 0 to 1. */
  show(share: number, text: string): void {
    const { isTTY } = this.#stream;
    // Some terminals do not report their width.
    const columns = this.#stream.columns || 80;
    const now = performance.now();
    if (now - this.#shownAt < (isTTY ? frameIntervalMs : lineIntervalMs)) return;
    this.#shownAt = now;
    if (isTTY) this.#stream.write(`\r${[...barText(share, text)].slice(0, columns - 1).join("")}\u{1b}[K`);
    else this.#stream.write(`${percent(share)}, ${printable(text)}\n`);
  }

  /** Clears the line for the output that follows. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\u{1b}[K");
  }
}

function barText(share: number, text: string): string {
  const full = Math.floor(share * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)}  ${percent(share).padStart(5)}  ${printable(text)}`;
}

const percent = (share: number): string => `${Math.floor(share * 100)} %`;
