import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import type { Driver, PoolControls, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { parseReply } from "../../transports/json.ts";
import { garbled } from "../../transports/limits.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { SeldomPages } from "../shared/seldom-pages.ts";
import { apiPort, EpicApi } from "./api.ts";
import { type AutoFan, autoFanOf, offers, usualAutoFan } from "./controls.ts";
import { poolActions, poolControls } from "./pools.ts";
import { devicesOf, haltOf, identityOf, isStarting, poolsOf, readingsOf, type Snapshot } from "./readings.ts";

/** ePIC's control boards (UMC) with PowerPlay, in Antminers and BlockMiners. Source: ePIC's API document (v3). */
export const epic: Driver = {
  id: "epic",
  name: "ePIC UMC (PowerPlay)",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [apiPort, 80],
  login: { keys: ["password"], adds: "controlled" },
  makersLogin: { username: "", password: "letmein" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new EpicRig(link),
};

const summaryPath = "/summary";

/** By its dashboard at port 80; an address with the port of its API is asked for the summary. */
function recognise({ root, pages, port }: Signs): Partial<Identity> | Question | undefined {
  if (root === null) return undefined;
  if (/\bMiner Web Dashboard\b|<title>[^<]{0,80}\bePIC\b/i.test(root.body)) return { make: "ePIC" };
  if (port === undefined) return undefined;
  if (!Object.hasOwn(pages, summaryPath)) return { page: summaryPath };
  const parsed = parseReply(pages[summaryPath]?.body ?? "");
  if ("problem" in parsed) return undefined;
  const summary = new TolerantReader(parsed.value, new Notes(), "");
  if (!isSummary(summary) || !summary.has("StratumConfigs")) return undefined;
  return { make: "ePIC", firmware: summary.text("Software"), hostname: summary.text("Hostname") };
}

const isSummary = (summary: TolerantReader): boolean => summary.has("Status") && summary.has("Session");

class EpicRig implements Rig {
  readonly #api: EpicApi;
  readonly pools: PoolControls;
  readonly #seldom: SeldomPages<"capabilities" | "network" | "hashrate">;
  readonly #offered = new OfferedControls();
  #autoFan: AutoFan = usualAutoFan;

  constructor(link: Link) {
    this.#api = new EpicApi(link);
    this.pools = poolControls(this.#api);
    this.#seldom = new SeldomPages(
      ["capabilities", "network", "hashrate"],
      link,
      async (page, signal) => (await this.#api.get(page, signal)).value,
    );
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const reply = await this.#api.get("summary", signal);
    notes.addAll(reply.notes);
    const summary = new TolerantReader(reply.value, notes, "");
    if (!isSummary(summary)) throw garbled(this.#api.at, "this is not the summary of an ePIC");
    await this.#seldom.refresh(signal);
    const snapshot: Snapshot = {
      summary,
      capabilities: this.#seldom.page("capabilities", notes),
      network: this.#seldom.page("network", notes),
      chips: chipsOf(this.#seldom.value("hashrate")),
    };
    this.#autoFan = autoFanOf(snapshot) ?? this.#autoFan;
    const readings = readingsOf(snapshot);
    const { locked } = this.#api;
    if (locked !== null) notes.add(locked.text);
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(snapshot),
      devices: devicesOf(snapshot, readings.boards),
      controls: this.#offered.offer(locked === null ? offers(this.#api, snapshot, this.#autoFan) : []),
      poolActions: locked === null ? poolActions : [],
      starting: isStarting(snapshot),
      halt: haltOf(snapshot),
      software: null,
      logInterval: null,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#seldom.forget();
  }

  close(): void {
    this.#api.close();
  }
}

/** How many chips of each board hash; no entry while none does, since then the rig idles. */
function chipsOf(page: unknown): Map<number, number> {
  const counts = new Map<number, number>();
  const boards = new TolerantReader({ boards: Array.isArray(page) ? page : [] }, new Notes(), "").list("boards", 16);
  for (const board of boards) {
    const slot = board.integer("Index");
    const hashing = board.rows("Data", 1_000).filter((chip) => (chip.number("0") ?? 0) > 0).length;
    if (slot !== null && hashing > 0) counts.set(slot, hashing);
  }
  return counts;
}
