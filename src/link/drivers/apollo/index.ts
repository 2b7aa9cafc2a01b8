import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import type { Driver, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { SeldomPages } from "../shared/seldom-pages.ts";
import { ApolloApi } from "./api.ts";
import { offers, poolActions, poolControls } from "./controls.ts";
import { minerQuery, ownerQuery } from "./queries.ts";
import { devicesOf, identityOf, poolsOf, readingsOf, type Snapshot } from "./readings.ts";

/** FutureBit Apollo: a GraphQL API whose statistics are open. Source: FutureBit's schema; there is no recording. */
export const apollo: Driver = {
  id: "apollo",
  name: "FutureBit Apollo",
  evidence: {
    readings: "never tried; built from FutureBit's schema",
    controls: "never tried; built from FutureBit's schema",
  },
  ports: [80],
  login: { keys: ["password"], adds: "controlled" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new ApolloRig(link),
};

/** Its page leads to its overview. */
const recognise = ({ root }: Signs): Partial<Identity> | undefined =>
  root?.status === 308 && /^(?:https?:\/\/[^/]+)?\/overview\/?$/.test(root.headers.location ?? "")
    ? { make: "FutureBit" }
    : undefined;

/** Only commands and people change what the owner may read. */
const refreshAfterMs = 30_000;

class ApolloRig implements Rig {
  readonly #api: ApolloApi;
  readonly #owner: SeldomPages<"owner">;
  readonly pools: PoolControls;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#api = new ApolloApi(link);
    const ask = async (_: "owner", signal: AbortSignal): Promise<unknown> =>
      this.#api.locked?.why === "login missing" ? undefined : this.#api.query(ownerQuery, signal);
    this.#owner = new SeldomPages(["owner"], link, ask, refreshAfterMs);
    this.pools = poolControls(this.#api, async (signal) => {
      this.#owner.forget();
      const snapshot = await this.#snapshot(signal, new Notes());
      // It is about to change.
      this.#owner.forget();
      return poolsOf(snapshot);
    });
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const snapshot = await this.#snapshot(signal, notes);
    const readings = readingsOf(snapshot);
    const { locked } = this.#api;
    if (locked !== null) notes.add(locked.text);
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(snapshot),
      devices: devicesOf(readings.boards),
      controls: this.#offered.offer(locked === null ? offers(this.#api, snapshot) : []),
      poolActions: locked === null ? poolActions : [],
      poolSeconds: 90,
      software: null,
      logInterval: 30,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal).finally(() => this.#owner.forget());
  }

  doubt(): void {
    this.#owner.forget();
  }

  close(): void {
    this.#api.close();
  }

  async #snapshot(signal: AbortSignal, notes: Notes): Promise<Snapshot> {
    const data = await this.#api.query(minerQuery, signal);
    const miner = new TolerantReader(data, notes, "").object("Miner");
    if (!miner.has("online") && !miner.has("stats")) throw garbled(this.#api.at, "this is not the API of an Apollo");
    await this.#owner.refresh(signal);
    return { miner, owner: this.#owner.page("owner", notes) };
  }
}
