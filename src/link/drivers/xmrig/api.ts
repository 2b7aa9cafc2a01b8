import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolControls } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf, refusal } from "../../transports/http.ts";
import { parseStrict } from "../../transports/json.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { Memo } from "../shared/memo.ts";
import { type Config, edit } from "./pools.ts";

/** The program whose API it is, and its paths. */
export interface XmrigPages {
  readonly name: string;
  readonly summary: string;
  readonly config: string;
}

/** Pools are changed only by commands. */
const refreshAfterMs = 60_000;
/**
 * After a change the configuration read may still be the old one. XMRig answers at once, applies the new one half a
 * second later, and may be busy for some seconds restarting its threads.
 */
const settleMs = 10_000;

/** What XMRig and xmrig-proxy have in common: the access token, the configuration, and with it the pools. */
export class XmrigApi {
  readonly #link: Link;
  readonly #pages: XmrigPages;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #config: Memo<{ readonly value: unknown; readonly allowed: boolean }>;
  /**
   * When the last change is certainly applied, by the monotonic clock. A configuration that was read earlier is not
   * cached.
   */
  #settledAt = Number.NEGATIVE_INFINITY;

  constructor(link: Link, pages: XmrigPages) {
    this.#link = link;
    this.#pages = pages;
    this.#config = new Memo(refreshAfterMs, link.monotonicNow);
    const { token } = link.credentials;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** host:port, for messages. */
  get at(): string {
    return this.#link.http.at;
  }

  /** As last read. */
  get config(): unknown {
    return this.#config.value?.value;
  }

  get restrictedNote(): string {
    return `this ${this.#pages.name} is read only; to control it, start it with --http-no-restricted and --http-access-token`;
  }

  async summary(signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    return new TolerantReader(await this.get(this.#pages.summary, signal, notes), notes, "");
  }

  /** Whether the configuration may be read, which also means that it may be changed. */
  async readConfig(signal: AbortSignal, notes: Notes): Promise<boolean> {
    if (!this.#config.isFresh || this.#config.at < this.#settledAt) {
      try {
        this.#config.keep({ value: await this.get(this.#pages.config, signal, notes), allowed: true });
      } catch (error) {
        missed(error, "its configuration could not be read", notes);
        const refused = error instanceof RigbridgeError && (error.code === "rig.refused" || error.code === "rig.login");
        if (refused) this.#config.keep({ value: null, allowed: false });
        return !refused;
      }
    }
    return this.#config.value?.allowed === true;
  }

  /** The first enabled pool that answers is used; each change writes the whole configuration. */
  get pools(): Required<Omit<PoolControls, "use">> {
    return {
      add: (login, signal) => this.#change((config) => edit.add(config, login), signal),
      switch: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
      prioritize: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
      enable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, true), signal),
      disable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, false), signal),
      remove: (pool, signal) => this.#change((config) => edit.remove(config, pool), signal),
    };
  }

  /** While it applies a new configuration it may answer half a document, so a garbled read is repeated once. */
  async get(path: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    const call = { method: "GET", path } as const;
    const once = async (): Promise<DeviceReply> => jsonOf(this.at, call, await this.send(call, signal));
    const reply = await once().catch((error: unknown) => {
      if (error instanceof RigbridgeError && error.code === "rig.garbled") return once();
      throw error;
    });
    notes.addAll(reply.notes);
    return reply.value;
  }

  async send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const { http, credentials } = this.#link;
    const reply = await http.call({ ...call, headers: this.#headers }, signal);
    const mistake = this.#tokenMistake(reply.status, credentials.token !== undefined);
    // The summary requires only the token; everything else may be forbidden even with it.
    const code = reply.status === 401 || call.path === this.#pages.summary ? "rig.login" : "rig.refused";
    if (mistake !== null) throw new RigbridgeError(code, `${http.at} refused ${call.path}: ${mistake}`);
    if (reply.status >= 300) throw refusal(http.at, call, reply);
    return reply;
  }

  close(): void {
    this.#link.http.close();
  }

  async #change(change: (config: Config) => Config, signal: AbortSignal): Promise<string> {
    const config = await this.#strictConfig(signal);
    const body = change(config);
    this.#config.forget();
    try {
      await this.send({ method: "PUT", path: this.#pages.config, body }, signal);
    } finally {
      this.#settledAt = this.#link.monotonicNow() + settleMs;
    }
    return `${this.#pages.name} accepted the configuration`;
  }

  /** Read just before a change, without repairs, which must not be written back. */
  async #strictConfig(signal: AbortSignal): Promise<Config> {
    const { body } = await this.send({ method: "GET", path: this.#pages.config }, signal);
    const parsed = parseStrict(body);
    if ("problem" in parsed || !isRecord(parsed.value)) {
      throw new RigbridgeError("rig.garbled", `${this.at}: its configuration could not be read`);
    }
    return parsed.value;
  }

  /** Answers 401 without a token (and always when it has none to compare), 403 to a wrong one or when restricted. */
  #tokenMistake(status: number, given: boolean): string | null {
    const { name } = this.#pages;
    if (status === 401) {
      return given
        ? `${name} has no access token to compare with; start it with --http-access-token`
        : `${name} requires its access token (--http-access-token), and none is configured`;
    }
    return status === 403 ? `the access token is wrong, or ${name} is restricted (--http-no-restricted)` : null;
  }
}

/** A missing part becomes a note. */
export function missed(error: unknown, note: string, notes: Notes): null {
  if (!(error instanceof RigbridgeError)) throw error;
  notes.add(note);
  return null;
}
