import { networkInterfaces } from "node:os";
import { Command } from "commander";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import { listenForRigs } from "../discovery/announced-rigs.ts";
import { type OwnNetworks, ownNetworks, parseNetworks, planSearch, type SearchPlan } from "../link/networks.ts";
import { type Announced, describeRig, type FoundRig, type Progress, remarkOn, scan, usualPorts } from "../link/scan.ts";
import { counted, defaultFile } from "./config.ts";
import { failing } from "./failure.ts";
import { ProgressBar } from "./progress.ts";
import { indented, table } from "./table.ts";

interface ScanOptions {
  readonly yes?: boolean;
  readonly ports?: string;
  readonly json?: true;
  readonly mdns?: boolean;
}

export function scanCommand(): Command {
  return new Command("scan")
    .description("Looks for rigs in networks; needs no running service.")
    .argument(
      "[networks...]",
      "like 192.168.1.0/24, 192.168.1.10-192.168.1.80 or one address, with :port for one more port " +
        "(default: this machine's own networks)",
    )
    .option("--yes", "also networks that are larger than a /16 or not private")
    .option("--ports <list>", "more ports to try everywhere, like 8080,8081; an XMRig has no usual one")
    .option("--mdns", "also listen for rigs that announce themselves (default: when no network is named)")
    .option("--no-mdns", "do not listen for them")
    .option("--json", "print JSON")
    .action(failing(scanNetworks));
}

async function scanNetworks(networks: readonly string[], options: ScanOptions): Promise<void> {
  const own = ownNetworks(networkInterfaces());
  const plan = planOf(networks, own, options);
  if (networks.length === 0) for (const note of own.notes) console.error(note);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  // More than once: a Ctrl-C reaches us from the terminal and from npm.
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

/** Throws `input.invalid` for what cannot be searched, `not.possible` when there is nothing to search. */
function planOf(networks: readonly string[], own: OwnNetworks, { ports, yes = false }: ScanOptions): SearchPlan {
  const extra = ports === undefined ? [] : ports.split(",").map(portNumber);
  const parsed = networks.length === 0 ? own.networks : parseNetworks(networks);
  if (parsed.length === 0) {
    throw new RigbridgeError(
      "not.possible",
      "This machine is in no private network; say what to search, as in: rigbridge scan 192.168.1.0/24",
    );
  }
  return planSearch(parsed, { ports: [...new Set([...usualPorts, ...extra])], yes });
}

function portNumber(text: string): number {
  const port = /^ *[0-9]{1,5} *$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw invalid("--ports", "must be numbers from 1 to 65535, with commas between them");
  return port;
}

/** One search, shown as it goes on. */
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

  /** In the order of their addresses. */
  found(): FoundRig[] {
    return this.#found.toSorted((a, b) => a.address.localeCompare(b.address, "en", { numeric: true }));
  }

  /** Listens at these own addresses for rigs that announce themselves, too. */
  async run(interfaces: readonly string[]): Promise<void> {
    // On a network where nothing answers, nothing happens for a while.
    const picture = setInterval(() => this.#show(), 100);
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
      clearInterval(picture);
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
  if (found.length === 0) return [`No rig was found in ${where}.`, ...advice].join("\n");
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
  "What may help:",
  "  - Rigs that are off, or in another network, are not found; name the network: rigbridge scan 192.168.2.0/24",
  "  - An XMRig has no usual port; name its --http-port: rigbridge scan 192.168.1.0/24:8080",
  "  - What one address answers is told by: rigbridge read ADDRESS",
];

/** What makes a Rigbridge read them. */
function declaration(found: readonly FoundRig[]): string[] {
  const miners = found.filter(({ driver }) => driver !== null).map((rig) => `  - { ${fields(rig).join(", ")} }`);
  if (miners.length === 0) return [];
  return [`\nFor ${defaultFile}:\n`, indented(["miners:", ...miners].join("\n"))];
}

function fields({ address, identity: { hostname }, login }: FoundRig): string[] {
  const name = hostname !== null && /^[\w .-]{1,64}$/.test(hostname) ? [`name: "${hostname}"`] : [];
  const secrets = (login?.keys ?? []).map((key) => `${key}: "${placeholders[key]}"`);
  return [`address: "${address}"`, ...name, ...secrets];
}

const placeholders = { username: "its user name", password: "its password", token: "its access token" } as const;

const thousands = (count: number): string => count.toLocaleString("en-US");
const addresses = (count: number): string => `${thousands(count)} address${count === 1 ? "" : "es"}`;
