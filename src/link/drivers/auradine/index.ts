import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Driver, PoolControls, PoolLogin, PoolReading, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes } from "../../tolerant-reader.ts";
import { freshPools } from "../shared/cgminer-pools.ts";
import { ratesOf, statusOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { besideRpc, firstRecordOf, RpcReports, recordsOf } from "../shared/rpc-reports.ts";
import { SeldomPages } from "../shared/seldom-pages.ts";
import { WholeListPools } from "../shared/whole-list-pools.ts";
import { AuradineApi } from "./api.ts";
import { offers } from "./controls.ts";
import { devicesOf, haltOf, identityOf, poolList, readingsOf, type Snapshot } from "./readings.ts";

/**
 * Auradine (Teraflux with FluxOS): reports over cgminer's RPC, the rest and all controls over HTTP with its login.
 * Sources: recorded replies; the controls of other programs.
 */
export const auradine: Driver = {
  id: "auradine",
  name: "Auradine (Teraflux, FluxOS)",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [4028, 80],
  login: { keys: ["username", "password"], adds: "controlled" },
  makersLogin: { username: "admin", password: "admin" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new AuradineRig(link),
};

const sign = /GCMINER|FLUXOS/i;

function recognise({ root, version }: Signs): Partial<Identity> | undefined {
  if (isRecord(version) && sign.test(JSON.stringify(version)))
    return { make: "Auradine", firmware: statusOf(version)?.program ?? null };
  return root !== null && root.status < 400 && /<title>\s*Miner UI\b/i.test(root.body)
    ? { make: "Auradine" }
    : undefined;
}

const rpcReports = ["summary", "devs", "pools"] as const;
type Reports = RpcReports<(typeof rpcReports)[number]>;
/** In every read, since commands change them. */
const livePages = ["mode", "psu", "led"] as const;
type LivePage = (typeof livePages)[number];
const brisk = { pages: ["fan", "temperature"], refreshAfterMs: 30_000 } as const;
const seldom = { pages: ["ipreport", "frequency", "voltage"] } as const;

class AuradineRig implements Rig {
  readonly #link: Link;
  readonly #api: AuradineApi;
  readonly #brisk: SeldomPages<(typeof brisk.pages)[number]>;
  readonly #seldom: SeldomPages<(typeof seldom.pages)[number]>;
  readonly #counts: SeldomPages<"asccount">;
  readonly #pools: WholeListPools;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#api = new AuradineApi(link);
    const page = (name: string, signal: AbortSignal): Promise<unknown> => this.#api.get(name, signal);
    this.#brisk = new SeldomPages(brisk.pages, link, page, brisk.refreshAfterMs);
    this.#seldom = new SeldomPages(seldom.pages, link, page);
    this.#counts = new SeldomPages(
      ["asccount"],
      link,
      async (command, signal) => (await link.rpc.send(command, undefined, signal)).value,
    );
    const list = {
      pools: (signal: AbortSignal): Promise<PoolReading[]> => freshPools(link.rpc, signal),
      writePools: (logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> => this.#write(logins, signal),
    };
    this.#pools = new WholeListPools("An Auradine", async () => list, link.credentials.poolPassword);
  }

  get pools(): PoolControls {
    return this.#pools.controls;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const reports = await RpcReports.read(this.#link.rpc, rpcReports, signal, notes);
    await this.#counts.refresh(signal);
    const live = await besideRpc(this.#api, "its web API does", notes, () => this.#livePages(signal));
    if (live !== null) {
      await this.#brisk.refresh(signal);
      await this.#seldom.refresh(signal);
    }
    const snapshot = this.#snapshot(reports, live, notes);
    const readings = readingsOf(snapshot);
    const pools = poolList(snapshot);
    const { locked } = this.#api;
    if (locked !== null) notes.add(locked.text);
    const rates = ratesOf(snapshot.summary);
    return {
      identity: identityOf(snapshot, statusOf(reports.value("summary"))?.program ?? null),
      readings: { ...readings, notes: notes.list() },
      pools,
      devices: devicesOf(snapshot, readings.boards),
      controls: this.#offered.offer(live === null ? [] : offers(this.#api, snapshot)),
      poolActions: live === null ? [] : this.#pools.actions(pools),
      ...(live === null ? {} : { poolsWithheld: this.#pools.withheld(pools) }),
      poolSeconds: 60,
      halt: haltOf(snapshot),
      software: null,
      logInterval: rates.seconds,
      workUtility: snapshot.summary.number("Work Utility"),
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#seldom.forget();
    this.#counts.forget();
  }

  close(): void {
    this.#link.rpc.close();
    this.#api.close();
  }

  async #livePages(signal: AbortSignal): Promise<ReadonlyMap<LivePage, unknown>> {
    const pages = new Map<LivePage, unknown>();
    for (const page of livePages) pages.set(page, await this.#api.get(page, signal));
    return pages;
  }

  #snapshot(reports: Readonly<Reports>, live: ReadonlyMap<LivePage, unknown> | null, notes: Notes): Snapshot {
    const list = (value: unknown, section: string) => recordsOf(value, section, notes);
    const first = (value: unknown, section: string) => firstRecordOf(value, section, notes);
    const known = live !== null;
    return {
      summary: reports.first("summary"),
      devs: reports.list("devs"),
      pools: reports.list("pools"),
      mode: first(live?.get("mode"), "Mode"),
      psu: first(live?.get("psu"), "PSU"),
      led: first(live?.get("led"), "LED"),
      fans: known ? list(this.#brisk.value("fan"), "Fan") : [],
      temperatures: known ? list(this.#brisk.value("temperature"), "Temperature") : [],
      report: first(this.#seldom.value("ipreport"), "IPReport"),
      frequencies: known ? list(this.#seldom.value("frequency"), "Frequency") : [],
      voltages: known ? list(this.#seldom.value("voltage"), "Voltage") : [],
      chips: first(this.#counts.value("asccount"), "ASCCount"),
    };
  }

  #write(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> {
    const pools = logins.map(({ url, worker, password }) => ({ url, user: worker, pass: password }));
    const secrets = logins.map(({ password }) => password);
    return this.#api.post("updatepools", { pools }, signal, secrets);
  }
}
