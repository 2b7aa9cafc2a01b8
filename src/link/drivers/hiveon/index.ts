import type { Driver, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import type { Notes } from "../../tolerant-reader.ts";
import { digestTransport } from "../../transports/digest.ts";
import type { HttpTransport } from "../../transports/http.ts";
import { asleep, type MinerConfig, poolsOf } from "../antminer/config.ts";
import { nameOf, offers, stored } from "../antminer/controls.ts";
import { listActions, listPools } from "../antminer/pools.ts";
import { AntminerWeb } from "../antminer/web.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { Memo } from "../shared/memo.ts";
import { pageOrNull, RpcAndWebRig, type WebInterface, type WebPools, type WebReport } from "../shared/rpc-and-web.ts";
import { systemOf } from "../volcminer/web.ts";

/**
 * Hiveon's firmware for Antminers: Bitmain's RPC with the power of the boards, and Bitmain's pages behind a digest login.
 * Source: programs that others have published; there is no recording.
 */
export const hiveon: Driver = {
  id: "hiveon",
  name: "Hiveon (on Antminer)",
  evidence: {
    readings: "never tried; built from published programs",
    controls: "never tried; built from published programs",
  },
  ports: [80, 4028],
  login: {
    keys: ["username", "password"],
    adds: "stopped, started, rebooted and located, and its pools and fan changed",
  },
  makersLogin: { username: "root", password: "root" },
  recognise: ({ version, reports }) => {
    const identity = kindOf(version, reports.stats ?? null)?.identity;
    return identity?.make === "Hiveon" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

function connect(link: Link): Rig {
  const { username = "root", password = "" } = link.credentials;
  return new RpcAndWebRig(
    link,
    cgminer.connect(link),
    new HiveonWeb(digestTransport(link.http, { username, password }), link.monotonicNow),
  );
}

interface Settings {
  readonly config: MinerConfig | null;
  readonly blinks: boolean | null;
}

/** Between two reads of its settings, which only commands and people change. */
const refreshAfterMs = 30_000;

class HiveonWeb implements WebInterface {
  readonly takesCommands = true;
  readonly adds =
    "its MAC address and host name, and allow stopping, rebooting and locating it and changing its pools, mode and fan";
  readonly #http: HttpTransport;
  readonly #web: AntminerWeb;
  readonly #settings: Memo<Settings>;
  #identity: WebReport["identity"] | undefined;
  /** The last mode in which it was awake. */
  #awake = 0;

  constructor(http: HttpTransport, monotonicNow: () => number) {
    this.#http = http;
    this.#settings = new Memo(refreshAfterMs, monotonicNow);
    this.#web = new AntminerWeb(http);
  }

  forget(): void {
    this.#settings.forget();
    this.#identity = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    // Its RPC names the model and the build.
    this.#identity ??= { ...(await systemOf(this.#http, signal, notes)), model: null, firmware: null };
    const generation = await this.#web.generation(signal);
    if (generation === null) return { identity: this.#identity, offered: [], pools: null };
    const kept = this.#settings.isFresh ? this.#settings.value : undefined;
    const { config, blinks } = kept ?? (await this.#read(signal, notes));
    const mode = config?.mode ?? null;
    if (mode !== null && mode !== asleep) this.#awake = mode;
    return {
      identity: this.#identity,
      offered: offers(this.#web, generation, { config, blinks, hasFans: true, awake: this.#awake }),
      readings: { mode: mode === null ? null : nameOf(mode), locate: blinks },
      pools: config === null ? null : this.#pools(config),
    };
  }

  /** Kept only where all of it was read. */
  async #read(signal: AbortSignal, notes: Notes): Promise<Settings> {
    const config = await pageOrNull("configuration", this.#web.config(signal, notes), notes);
    const blinks = await pageOrNull("light", this.#web.blinks(signal, notes), notes);
    const read = { config, blinks };
    return config === null || blinks === null ? read : this.#settings.keep(read);
  }

  #pools(config: MinerConfig): WebPools {
    return {
      listed: (running) => poolsOf(config, running),
      actions: listActions(config),
      controls: listPools((to, signal) => {
        this.#settings.forget();
        return this.#web.change((known) => ({ ...known, pools: to(known.pools) }), signal);
      }),
      seconds: stored.seconds,
    };
  }
}
