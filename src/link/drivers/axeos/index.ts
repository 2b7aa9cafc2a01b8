import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import type { Driver, PoolControls, PoolLogin, PoolReading, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { RigFirmware } from "../../firmware.ts";
import type { Link } from "../../link.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpTransport, NotOnDevice, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { lastPool, listedPool } from "../shared/listed-pool.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type ChipOptions, chipOptions, offers } from "./controls.ts";
import { isSet, poolActionsOf, poolsOf, slots } from "./pools.ts";
import { devicesOf, identityOf, overheated, readingsOf, turnsSecondFan } from "./readings.ts";

/**
 * AxeOS, the web interface of ESP-Miner: Bitaxe and its forks NerdAxe and LuckyMiner. HTTP, no credentials.
 * Source: ESP-Miner's openapi.yaml.
 */
export const axeos: Driver = {
  id: "axeos",
  name: "AxeOS (Bitaxe, NerdAxe, LuckyMiner)",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [80],
  recognise: (signs) => recognise(signs),
  connect: (link) => new AxeosRig(link),
};

const infoPath = "/api/system/info";
const asicPath = "/api/system/asic";

/** Its page at / is compressed and uninformative, so its information page is requested from every HTTP server. */
function recognise({ root, pages }: Signs): Partial<Identity> | Question | undefined {
  if (root === null) return undefined;
  if (!Object.hasOwn(pages, infoPath)) return { page: infoPath };
  const parsed = parseReply(pages[infoPath]?.body ?? "");
  if ("problem" in parsed) return undefined;
  const info = new TolerantReader(parsed.value, new Notes(), "");
  return info.has("ASICModel") || (info.has("stratumURL") && info.has("hashRate"))
    ? identityOf(info, root.body)
    : undefined;
}

class AxeosRig implements Rig {
  readonly quick = true;
  readonly #http: HttpTransport;
  readonly #firmware: RigFirmware;
  /** Its page about the chip, which does not change while it runs; null where the rig does not give it. */
  readonly #asic: Memo<TolerantReader | null>;
  readonly #offered = new OfferedControls();
  /** Whether its second fan has ever turned: without one, firmware reads 0 rpm too. */
  #hasTwoFans: boolean;

  constructor({ http, firmware, knownFans }: Pick<Link, "http" | "firmware" | "knownFans">) {
    this.#http = http;
    this.#firmware = firmware;
    this.#hasTwoFans = knownFans > 1;
    this.#asic = new Memo(Number.POSITIVE_INFINITY);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const info = await this.#info(signal, notes);
    await this.#readAsic(signal);
    const chip: ChipOptions | null = chipOptions(this.#asic.value ?? null, info.text("ASICModel"));
    const pools = poolsOf(info);
    this.#hasTwoFans ||= turnsSecondFan(info);
    const readings = readingsOf(info, this.#asic.value?.integer("asicCount") ?? null, this.#hasTwoFans);
    return {
      identity: identityOf(info, ""),
      readings: { ...readings, notes: notes.list() },
      pools,
      devices: devicesOf(info, readings),
      controls: this.#offered.offer(offers(this.#http, info, chip)),
      poolActions: poolActionsOf(info, pools),
      software: null,
      logInterval: null,
      workUtility: null,
      halt: info.boolean("overheat_mode") === true ? overheated : undefined,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  /**
   * AxeOS has two pools, a primary and a fallback, applies changes to them at its next start, and never reveals their
   * passwords. So they cannot be swapped, only selected, where the firmware can (`useFallbackStratum`).
   */
  get pools(): PoolControls {
    return {
      add: async (login, signal) => {
        checkLogin(login);
        const info = await this.#info(signal, new Notes());
        const slot = slots.find((each) => !isSet(info, each));
        if (slot === undefined) {
          throw new RigbridgeError("not.possible", "AxeOS holds two pools and both are set; remove the fallback first");
        }
        const result = await this.#patch(slotFields(slot, login, info), signal);
        return `${result}; stored as the ${slot.name} pool, used after the next restart`;
      },
      use: async (login, signal) => {
        checkLogin(login);
        const info = await this.#info(signal, new Notes());
        const [primary] = slots;
        const choice = info.has("useFallbackStratum") ? { useFallbackStratum: 0 } : {};
        const result = await this.#patch({ ...slotFields(primary, login, info), ...choice }, signal);
        return `${result}; stored in place of the primary pool, and the device restarts to use it: ${await this.#restart(signal)}`;
      },
      switch: (pool, signal) => this.#choose(pool, signal),
      prioritize: (pool, signal) => this.#choose(pool, signal),
      remove: async (pool, signal) => {
        const info = await this.#info(signal, new Notes());
        const pools = poolsOf(info);
        const wanted = listedPool(pools, pool);
        if (pools.length < 2) throw lastPool();
        if (wanted.index === 0) {
          throw new RigbridgeError("not.possible", "AxeOS needs its primary pool; only the fallback can be removed");
        }
        const fallback = slots[1];
        const result = await this.#patch(
          { [fallback.url]: "", ...(info.has("useFallbackStratum") ? { useFallbackStratum: 0 } : {}) },
          signal,
        );
        if (!wanted.active) return result;
        return `${result}; it was in use, so the device restarts: ${await this.#restart(signal)}`;
      },
    };
  }

  close(): void {
    this.#http.close();
  }

  async #choose(pool: PoolReading, signal: AbortSignal): Promise<string> {
    const info = await this.#info(signal, new Notes());
    if (!info.has("useFallbackStratum")) {
      throw new RigbridgeError(
        "control.absent",
        "This version of AxeOS cannot switch between its pools, and does not reveal the passwords needed to swap them",
      );
    }
    const { index } = listedPool(poolsOf(info), pool);
    const result = await this.#patch({ useFallbackStratum: index }, signal);
    return `${result}; the device restarts to use the ${slots[index]?.name} pool: ${await this.#restart(signal)}`;
  }

  async #info(signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    const reply = await this.#http.getJson(infoPath, signal);
    notes.addAll(reply.notes);
    return new TolerantReader(reply.value, notes, "");
  }

  async #readAsic(signal: AbortSignal): Promise<void> {
    const isRead = this.#asic.value !== undefined && this.#asic.at >= this.#firmware.doubtedAt;
    if (isRead || this.#firmware.has(asicPath) === false) return;
    try {
      const { value } = await this.#http.getJson(asicPath, signal);
      this.#asic.keep(new TolerantReader(value, new Notes(), "asic"));
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (error instanceof NotOnDevice) this.#firmware.keep(asicPath, false);
      // After any other error the next read tries again.
      if (error.code === "rig.refused" || error.code === "rig.garbled") this.#asic.keep(null);
    }
  }

  async #patch(body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    const reply = await this.#http.send({ method: "PATCH", path: "/api/system", body }, signal);
    return words(reply.body) || "AxeOS accepted the settings";
  }

  async #restart(signal: AbortSignal): Promise<string> {
    const reply = await this.#http.send({ method: "POST", path: "/api/system/restart" }, signal);
    return words(reply.body) || "restarting";
  }
}

/** The settings that store this login in a slot. */
function slotFields(
  slot: (typeof slots)[number],
  login: PoolLogin,
  info: TolerantReader,
): Record<string, string | number> {
  const { host, port, tls } = checkLogin(login);
  return {
    [slot.url]: host,
    [slot.port]: port,
    [slot.user]: login.worker,
    [slot.password]: login.password,
    ...(tls || info.has(slot.tls) ? { [slot.tls]: tls ? 1 : 0 } : {}),
  };
}
