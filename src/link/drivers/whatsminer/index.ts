import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Driver, HttpSign, Locked, Question, Reading, Rig, Signs } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { Credentials, Link } from "../../link.ts";
import type { Pace } from "../../pace.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { statusOf } from "../shared/cgminer-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { WholeListPools } from "../shared/whole-list-pools.ts";
import { offers, PowerBounds } from "./controls.ts";
import { type Dialect, noPassword } from "./dialect.ts";
import { FrameSession } from "./frame-session.ts";
import { FrameDialect } from "./frames.ts";
import { RpcDialect } from "./rpc.ts";
import { RpcSession } from "./rpc-session.ts";

const makersLogin = { username: "super", password: "super" };

/**
 * WhatsMiner (MicroBT): API v1 and v2 over RPC, v3 over frames at port 4433, whichever the device speaks.
 * Source: the vendor's API 2.0.5 and 3.0. Only the owner can open the API for writing, in WhatsMinerTool; the
 * undocumented command for it is never sent.
 */
export const whatsminer: Driver = {
  id: "whatsminer",
  name: "WhatsMiner (API v1, v2 and v3)",
  evidence: { readings: "recorded", controls: "vendor document" },
  ports: [4028, 4433],
  login: { keys: ["password"], adds: "controlled" },
  makersLogin,
  recognise: (signs) => recognise(signs),
  connect: (link) => new WhatsminerRig(link),
};

const locked: Locked = { why: "login missing", text: "to control this rig, configure the password of its API" };

/** Its RPC names btminer or bitmicro in `version` or `devdetails`; its web server redirects to LuCI over TLS. */
function recognise({ root, version, reports }: Signs): Partial<Identity> | Question | undefined {
  if (names(version)) return nameIn(version);
  if (mayBe(version)) {
    if (!Object.hasOwn(reports, "devdetails")) return { command: "devdetails" };
    const details = reports.devdetails;
    if (names(details)) return nameIn(details);
  }
  return root !== null && isLuci(root) ? { make: "WhatsMiner" } : undefined;
}

const names = (answer: unknown): boolean =>
  statusOf(answer) !== null && /btminer|bitmicro/i.test(JSON.stringify(answer));

function nameIn(answer: unknown): Partial<Identity> {
  const reply = new TolerantReader(answer, new Notes(), "");
  const model = reply.list("DEVDETAILS")[0]?.text("Model")?.replaceAll("_", " ") ?? null;
  const mac = normalMac(reply.list("VERSION")[0]?.text("MAC") ?? null);
  return { make: "WhatsMiner", ...(model === null ? {} : { model }), ...(mac === null ? {} : { mac }) };
}

/** It answers `version` in its own flat form, or as cgminer 4.9, from which it descends, without a maker. */
function mayBe(version: unknown): boolean {
  const status = statusOf(version);
  if (status === null || !isRecord(version)) return false;
  if (typeof version.STATUS === "string") return true;
  const reply = new TolerantReader(version, new Notes(), "").list("VERSION")[0];
  const isNamed = ["Type", "Miner", "PROD", "MODEL"].some((key) => reply?.has(key) === true);
  return !isNamed && reply?.text("CGMiner")?.startsWith("4.9.") === true;
}

const isLuci = ({ status, headers, body }: HttpSign): boolean =>
  status === 307 &&
  headers.location?.startsWith("https://") === true &&
  `${headers.location} ${body}`.includes("/cgi-bin/luci");

class WhatsminerRig implements Rig {
  readonly #link: Link;
  readonly #hasPassword: boolean;
  readonly #bounds: PowerBounds;
  readonly #pools: WholeListPools;
  /** null before the first read. */
  #dialect: Dialect | null = null;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#bounds = new PowerBounds(link.knownControls);
    this.#hasPassword = link.credentials.password !== undefined;
    this.#pools = new WholeListPools("A WhatsMiner", async () => this.#openDialect(), link.credentials.poolPassword);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    this.#dialect ??= await this.#find(signal);
    const snapshot = await this.#dialect.read(notes, signal);
    this.#bounds.update(snapshot);
    if (!this.#hasPassword) notes.add(locked.text);
    return {
      identity: snapshot.identity,
      readings: { ...snapshot.readings, notes: notes.list() },
      pools: snapshot.pools,
      devices: snapshot.devices,
      controls: this.#offered.offer(this.#hasPassword ? offers(this.#dialect, snapshot, this.#bounds) : []),
      poolActions: this.#hasPassword ? this.#pools.actions(snapshot.pools) : [],
      ...(this.#hasPassword ? { poolsWithheld: this.#pools.withheld(snapshot.pools) } : { locked }),
      poolSeconds: 90,
      halt: snapshot.halt,
      software: null,
      logInterval: snapshot.logInterval,
      workUtility: null,
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (!this.#hasPassword) throw noPassword(this.#link.rpc.at);
    return this.#offered.set(this, key, value, signal);
  }

  get pools() {
    return this.#pools.controls;
  }

  doubt(): void {
    this.#dialect?.doubt();
  }

  close(): void {
    this.#link.rpc.close();
    this.#link.frames.close();
  }

  #openDialect(): Dialect {
    if (!this.#hasPassword) throw noPassword(this.#link.rpc.at);
    if (this.#dialect === null) throw new RigbridgeError("rig.unreachable", `${this.#link.rpc.at} has never been read`);
    return this.#dialect;
  }

  /** Firmware since November 2024 speaks v3, and also v2 unless that is switched off. */
  async #find(signal: AbortSignal): Promise<Dialect> {
    const { rpc, frames, credentials, firmware, pace } = this.#link;
    const session = new RpcSession(rpc, rpcPassword(credentials));
    const newer = new FrameSession(frames, credentials);
    try {
      const version = await session.ask("get_version", new Notes(), signal);
      if (firmwareDate(version) >= firstFrames && (await speaks(newer, pace, signal)))
        return new FrameDialect(newer, pace);
      return new RpcDialect(session, firmware, pace, version);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (await speaks(newer, pace, signal)) return new FrameDialect(newer, pace);
      throw error;
    }
  }
}

/** The maker's default login of v2 differs from that of v3, and has no user. */
function rpcPassword({ username, password, makersLogin: allowed }: Credentials): string | undefined {
  const isMakers = allowed === true && username === makersLogin.username && password === makersLogin.password;
  return isMakers ? "admin" : password;
}

/** As year, month and day. */
const firstFrames = 20_241_101;

/** Year, month and day as a number, from names like 20230803.11.REL. 0 if there is none. */
function firmwareDate(version: unknown): number {
  const reply = isRecord(version) ? new TolerantReader(version.Msg, new Notes(), "").text("fw_ver") : null;
  return Number(/(20\d{6})\./.exec(reply ?? "")?.[1] ?? 0);
}

/** Of a read's time, for the request that shows whether a device speaks v3. */
const probeShare = 0.3;

async function speaks(session: FrameSession, pace: Pace, signal: AbortSignal): Promise<boolean> {
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(pace.partMs(probeShare))]);
    return (await session.ask("get.device.info", "network", new Notes(), either)) !== undefined;
  } catch (error) {
    if (error instanceof RigbridgeError) return false;
    throw error;
  }
}
