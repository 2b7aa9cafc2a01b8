import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Driver, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { poolsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { besideRpc, RpcReports, recordsOf } from "../shared/rpc-reports.ts";
import { SeldomPages } from "../shared/seldom-pages.ts";
import { GoldshellApi } from "./api.ts";
import { offers } from "./controls.ts";
import { planInUse } from "./plans.ts";
import { poolActions, poolControls } from "./pools.ts";
import { devicesOf, identityOf, readingsOf, type Snapshot } from "./readings.ts";

/**
 * Goldshell: bfgminer's RPC, which is read only, and an HTTP API with its login for settings and pools.
 * Sources: notes of people who own one, and other programs.
 */
export const goldshell: Driver = {
  id: "goldshell",
  name: "Goldshell",
  evidence: { readings: "other source", controls: "other source" },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "controlled" },
  makersLogin: { username: "admin", password: "123456789" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new GoldshellRig(link),
};

/** By the program's name in its RPC, or by the title of its page. */
function recognise({ root, version }: Signs): Partial<Identity> | undefined {
  if (isRecord(version) && /INTCHAINS_QOMO|KDAMINER|GOLDSHELL/i.test(JSON.stringify(version)))
    return { make: "Goldshell" };
  return root !== null && root.status < 400 && /\bcloud-box\b|\bGoldshell\b/i.test(root.body)
    ? { make: "Goldshell" }
    : undefined;
}

const rpcReports = ["summary", "devs", "pools"] as const;
type Reports = RpcReports<(typeof rpcReports)[number]>;

class GoldshellRig implements Rig {
  readonly #link: Link;
  readonly #api: GoldshellApi;
  readonly pools: PoolControls;
  readonly #details: SeldomPages<"devdetails">;
  /** The status is asked without a login too. */
  readonly #status: SeldomPages<"status">;
  readonly #algorithms: SeldomPages<"algosetting">;
  readonly #offered = new OfferedControls();
  #lastLevel: number | null = null;

  constructor(link: Link) {
    this.#link = link;
    this.#api = new GoldshellApi(link);
    this.pools = poolControls(this.#api);
    const page = (name: string, signal: AbortSignal): Promise<unknown> => this.#api.get(name, signal);
    this.#status = new SeldomPages(["status"], link, page);
    this.#algorithms = new SeldomPages(["algosetting"], link, page);
    this.#details = new SeldomPages(
      ["devdetails"],
      link,
      async (command, signal) => (await link.rpc.send(command, undefined, signal)).value,
    );
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const reports = await RpcReports.read(this.#link.rpc, rpcReports, signal, notes);
    await this.#details.refresh(signal);
    const setting = await besideRpc(this.#api, "its web API does", notes, () => this.#api.get("setting", signal));
    await this.#status.refresh(signal);
    if (setting !== null) await this.#algorithms.refresh(signal);
    const snapshot = this.#snapshot(reports, setting, notes);
    const plan = planInUse(snapshot.setting);
    if (plan?.isIdle === false) this.#lastLevel = plan.level;
    const readings = readingsOf(snapshot);
    const { locked } = this.#api;
    if (locked !== null) notes.add(locked.text);
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(snapshot.pools),
      devices: devicesOf(snapshot, readings.boards),
      controls: this.#offered.offer(setting === null ? [] : offers(this.#api, snapshot.setting, this.#lastLevel)),
      poolActions: setting === null ? [] : poolActions,
      software: null,
      logInterval: ratesOf(snapshot.summary).seconds,
      workUtility: snapshot.summary.number("Work Utility"),
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    for (const pages of [this.#status, this.#algorithms, this.#details]) pages.forget();
  }

  close(): void {
    this.#link.rpc.close();
    this.#api.close();
  }

  #snapshot(reports: Reports, setting: unknown, notes: Notes): Snapshot {
    const details = this.#details.value("devdetails");
    const [listed = []] = ["DEVS", "DEVDETAILS"]
      .map((name) => recordsOf(details, name, notes))
      .filter(({ length }) => length > 0);
    return {
      summary: reports.first("summary"),
      devs: reports.list("devs"),
      pools: reports.list("pools"),
      details: listed,
      status: this.#status.page("status", notes),
      setting: new TolerantReader(setting ?? undefined, notes, "setting"),
      algorithms: this.#algorithms.page("algosetting", notes),
    };
  }
}
