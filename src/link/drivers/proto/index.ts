import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Driver, PoolControls, PoolLogin, PoolReading, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { NotOnDevice, words } from "../../transports/http.ts";
import { garbled } from "../../transports/limits.ts";
import { BearerApi } from "../shared/bearer-api.ts";
import { isSamePool } from "../shared/listed-pool.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { redact } from "../shared/redact.ts";
import { SeldomPages } from "../shared/seldom-pages.ts";
import { WholeListPools } from "../shared/whole-list-pools.ts";
import { offers } from "./controls.ts";
import { devicesOf, haltOf, identityOf, isStarting, poolsOf, readingsOf, type Snapshot } from "./readings.ts";

/** Proto rigs. Sources: the maker's API document and the maker's own program for many rigs; recorded answers. */
export const proto: Driver = {
  id: "proto",
  name: "Proto Rig",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [80],
  login: { keys: ["password"], adds: "read and controlled" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new ProtoRig(link),
};

const recognise = ({ root }: Signs): Partial<Identity> | undefined =>
  root !== null && root.status < 400 && /\bProto ?OS\b/i.test(root.body) ? { make: "Proto" } : undefined;

/** Only commands change these, beside the speed of the fans. */
const brisk = { pages: ["cooling", "mining/target"], refreshAfterMs: 30_000 } as const;
const seldom = ["system", "network", "hardware"] as const;

class ProtoRig implements Rig {
  readonly #api: BearerApi;
  readonly #brisk: SeldomPages<(typeof brisk.pages)[number]>;
  readonly #seldom: SeldomPages<(typeof seldom)[number]>;
  readonly #pools: WholeListPools;
  readonly #offered = new OfferedControls();
  /** As last read, with their names. */
  #named: readonly { readonly name: string; readonly url: string; readonly worker: string }[] = [];

  constructor(link: Link) {
    const { password } = link.credentials;
    const login =
      password === undefined
        ? null
        : {
            call: { method: "POST", path: "/api/v1/auth/login", body: { password } } as const,
            password,
            tokenIn: (answer: TolerantReader) => answer.text("access_token", 4_000),
            wordsIn: (answer: TolerantReader) =>
              answer.object("error").text("message", 200) ?? answer.text("message", 200),
          };
    this.#api = new BearerApi(link.http, login, link);
    const page = (name: string, signal: AbortSignal): Promise<unknown> => this.#get(name, signal);
    this.#brisk = new SeldomPages(brisk.pages, link, page, brisk.refreshAfterMs);
    this.#seldom = new SeldomPages(seldom, link, page);
    const list = {
      pools: async (signal: AbortSignal): Promise<PoolReading[]> =>
        poolsOf({ pools: await this.#listed(new Notes(), signal) }),
      writePools: (logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> =>
        this.#writePools(logins, signal),
    };
    this.#pools = new WholeListPools("A Proto rig", async () => list, link.credentials.poolPassword);
  }

  get pools(): PoolControls {
    return this.#pools.controls;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const mining = await this.#get("mining", signal);
    if (mining !== null && !(isRecord(mining) && isRecord(mining["mining-status"])))
      throw garbled(this.#api.at, "this is not the status of a Proto rig");
    const pools = await this.#listed(notes, signal);
    const errors = await this.#get("errors", signal);
    const telemetry = await this.#telemetry(signal);
    await this.#brisk.refresh(signal);
    await this.#seldom.refresh(signal);
    const snapshot: Snapshot = {
      mining: new TolerantReader(mining ?? undefined, notes, "mining").object("mining-status"),
      telemetry: new TolerantReader(telemetry ?? undefined, notes, "telemetry"),
      pools,
      errors: new TolerantReader({ errors }, notes, "").list("errors", 64),
      cooling: this.#brisk.page("cooling", notes).object("cooling-status"),
      target: this.#brisk.page("mining/target", notes),
      system: this.#seldom.page("system", notes).object("system-info"),
      network: this.#seldom.page("network", notes).object("network-info"),
      hardware: this.#seldom.page("hardware", notes).object("hardware-info"),
    };
    const readings = readingsOf(snapshot);
    const listed = poolsOf(snapshot);
    const { locked } = this.#api;
    if (locked !== null) notes.add(locked.text);
    const write = this.#write.bind(this);
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: listed,
      devices: devicesOf(readings.boards),
      controls: this.#offered.offer(locked === null ? offers(write, snapshot) : []),
      poolActions: locked === null ? this.#pools.actions(listed) : [],
      ...(locked === null ? { poolsWithheld: this.#pools.withheld(listed) } : { locked }),
      starting: isStarting(snapshot),
      halt: haltOf(snapshot),
      software: null,
      logInterval: null,
      workUtility: null,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal).finally(() => this.#brisk.forget());
  }

  doubt(): void {
    this.#seldom.forget();
  }

  close(): void {
    this.#api.close();
  }

  /** null where the rig has nothing to report. */
  async #get(page: string, signal: AbortSignal): Promise<unknown> {
    return (await this.#api.read({ method: "GET", path: `/api/v1/${page}` }, signal))?.value ?? null;
  }

  /** null on firmware that lacks it, whose status has the figures of the whole rig. */
  async #telemetry(signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#get("telemetry?level=miner,hashboard,psu", signal);
    } catch (error) {
      if (error instanceof NotOnDevice) return null;
      throw error;
    }
  }

  async #listed(notes: Notes, signal: AbortSignal): Promise<TolerantReader[]> {
    const page = new TolerantReader((await this.#get("pools", signal)) ?? undefined, notes, "");
    const pools = page.list("pools", 16);
    const read = poolsOf({ pools });
    this.#named = pools.flatMap((pool, position) => {
      const name = pool.text("name");
      const place = read[position];
      return name === null || place === undefined ? [] : [{ name, url: place.url, worker: place.worker }];
    });
    return pools;
  }

  async #write(
    method: "POST" | "PUT",
    page: string,
    body: unknown,
    signal: AbortSignal,
    secrets: string[] = [],
  ): Promise<string> {
    const call = { method, path: `/api/v1/${page}`, ...(body === undefined ? {} : { body }) };
    const reply = await this.#api.command(call, signal, secrets);
    return redact(words(reply.body), secrets) || "Proto accepted it";
  }

  /** A name that the owner gave a pool stays with it. */
  #writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> {
    const body = logins.map(({ url, worker, password }, priority) => {
      const known = this.#named.find((pool) => isSamePool(pool, { url, worker }));
      return { ...(known === undefined ? {} : { name: known.name }), url, username: worker, password, priority };
    });
    return this.#write(
      "POST",
      "pools",
      body,
      signal,
      logins.map(({ password }) => password),
    );
  }
}
