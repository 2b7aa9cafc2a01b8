import type { Socket } from "node:net";
import { antminer } from "./antminer/index.ts";
import { apollo } from "./apollo.ts";
import { auradine } from "./auradine/index.ts";
import { avalon } from "./avalon/index.ts";
import { axeos } from "./axeos/index.ts";
import { braiins } from "./braiins/index.ts";
import { cgminer } from "./cgminer/index.ts";
import { elphapex } from "./elphapex/index.ts";
import { epic } from "./epic/index.ts";
import { type FaultSetting, faultOf } from "./faults.ts";
import { readFrames } from "./frame.ts";
import { goldshell } from "./goldshell/index.ts";
import { hammer } from "./hammer/index.ts";
import { hiveon } from "./hiveon.ts";
import { type HttpRequest, readRequests } from "./http-message.ts";
import { iceriver } from "./iceriver/index.ts";
import { innosilicon } from "./innosilicon.ts";
import { luxos } from "./luxos/index.ts";
import { mara } from "./mara.ts";
import type { RigModel } from "./model.ts";
import { mskminer } from "./mskminer.ts";
import { mujina } from "./mujina.ts";
import { programs } from "./programs/index.ts";
import { Program } from "./programs/program.ts";
import { proto } from "./proto/index.ts";
import { mix } from "./random.ts";
import { bytesOf, type Reply } from "./reply.ts";
import type { Conversation, RequestLog, RigBody } from "./rig.ts";
import { modelOf, type RigKind, type RigSpec, rigName, standardPorts } from "./rig-spec.ts";
import { sealminer } from "./sealminer/index.ts";
import { vnish } from "./vnish/index.ts";
import { volcminer } from "./volcminer/index.ts";
import { whatsminer } from "./whatsminer/index.ts";
import { xmrig } from "./xmrig/index.ts";

/** How rigs listen; the farm decides. */
export interface RigNetwork {
  /** Stops listening. */
  detach(rig: SimulatedRig): void;
  attach(rig: SimulatedRig): Promise<void>;
  /** Cuts open connections. */
  cut(rig: SimulatedRig): void;
}

/** One virtual rig of a running farm. */
export class SimulatedRig implements RigBody {
  readonly kind: RigKind;
  readonly name: string;
  readonly mac: string;
  /** The physics: tests fail a pool, overheat the rig, or read the values that it should report (after `advance`). */
  readonly model: RigModel;
  readonly requests: RequestLog = { count: 0, writes: [] };
  readonly restartSeconds: number;
  readonly host: string;
  /** The ports it listens on; 0 until the farm has started. */
  ports: readonly number[];
  /** Switched on. */
  powered = true;
  #fault: FaultSetting;
  #connections = 0;
  /** The open RPC connection. */
  #rpcSocket: Socket | null = null;
  readonly #network: RigNetwork;
  readonly #conversation: Conversation;

  constructor(spec: RigSpec, index: number, options: { now: () => number; seed: number; network: RigNetwork }) {
    const seed = mix(options.seed, index + 1);
    this.kind = spec.kind;
    this.name = rigName(spec, index);
    this.mac = spec.mac ?? macOf(index);
    this.host = spec.host ?? "127.0.0.1";
    this.ports = spec.usualPorts ? standardPorts[spec.kind] : [spec.port ?? 0];
    this.restartSeconds = spec.restartSeconds ?? 3;
    this.#fault = spec.fault ?? null;
    this.#network = options.network;
    this.model = modelOf(spec, this.name, options.now, seed);
    this.#conversation = conversationOf(this, spec);
  }

  /** The first one. */
  get port(): number {
    return this.ports[0] ?? 0;
  }

  /** Such as `127.0.0.1:40123`; without a port if it has several. */
  get address(): string {
    return this.ports.length > 1 ? this.host : `${this.host}:${this.port}`;
  }

  /**
   * The fault; may be set at any time. A fault of connections also cuts the open ones.
   * "off" stops listening at once; any other setting makes it listen again soon, unless its port is taken.
   */
  get fault(): FaultSetting {
    return this.#fault;
  }

  set fault(fault: FaultSetting) {
    const wasOff = this.#fault === "off";
    this.#fault = fault;
    if (faultOf(fault)?.connect !== undefined) this.#network.cut(this);
    if (fault === "off") this.#network.detach(this);
    else if (wasOff && this.powered) this.#network.attach(this).catch(() => this.quit());
  }

  /** Whether it should be listening. */
  get listening(): boolean {
    return this.powered && this.#fault !== "off";
  }

  /** Refuses connections and cuts open ones, until `powerOn`. */
  powerOff(): void {
    this.quit();
    this.#network.cut(this);
  }

  /** Restarts the model and listens again on the same ports. */
  async powerOn(): Promise<void> {
    if (this.powered) return;
    this.powered = true;
    // cgminer does not store which devices are disabled.
    if (this.kind === "cgminer") this.model.boardsOff.clear();
    this.model.restart(0);
    if (this.listening) await this.#network.attach(this);
  }

  denies(): boolean {
    return faultOf(this.#fault)?.denies === true;
  }

  quit(): void {
    this.powered = false;
    this.#network.detach(this);
  }

  /** Serves a new connection. */
  serve(socket: Socket): void {
    if (!this.#awake) {
      socket.resetAndDestroy();
      return;
    }
    const fault = faultOf(this.#fault);
    socket.on("end", () => {
      if (fault !== null) leaveLater(socket);
      else if (!socket.writableEnded) socket.end();
    });
    this.#connections += 1;
    if (fault?.connect?.(socket, this.#connections) === true) return;
    const [only, ...others] = protocols.filter((protocol) => this.#conversation[protocol] !== undefined);
    if (only !== undefined && others.length === 0) this.#converse(socket, only);
    else socket.once("readable", () => this.#converseByStart(socket));
  }

  #converseByStart(socket: Socket): void {
    // In one piece, since it would be read again in the pieces in which it is put back.
    const first: Buffer | null = socket.read();
    if (first === null || first.length === 0) return;
    socket.unshift(first);
    this.#converse(socket, protocolOf(first));
  }

  #converse(socket: Socket, protocol: (typeof protocols)[number]): void {
    const { rpc, lines, http, frames } = this.#conversation;
    if (protocol !== "http" && lines !== undefined) this.#lines(socket, lines());
    else if (protocol === "rpc" && rpc !== undefined) this.#rpc(socket, rpc);
    else if (protocol === "http" && http !== undefined) this.#http(socket, http);
    else if (protocol === "frames" && frames !== undefined) this.#frames(socket, frames);
    else socket.resetAndDestroy();
  }

  get #awake(): boolean {
    return this.listening && !this.model.starting;
  }

  #rpc(socket: Socket, answer: (request: string) => Reply | null): void {
    if (this.#conversation.oneRpc && this.#rpcSocket !== null) {
      socket.resetAndDestroy();
      return;
    }
    this.#rpcSocket = socket;
    const leave = (): void => {
      if (this.#rpcSocket === socket) this.#rpcSocket = null;
    };
    socket.once("end", leave).once("close", leave);
    socket.once("data", (chunk: Buffer) => {
      this.requests.count += 1;
      const reply = answer(chunk.toString().replace(/[\0\r\n]+$/, ""));
      if (reply !== null) this.#send(socket, reply);
      socket.resume();
    });
  }

  #lines(socket: Socket, answer: (request: string) => Reply | null): void {
    let kept = "";
    socket.on("data", (chunk: Buffer) => {
      const requests = `${kept}${chunk.toString()}`.split("\n");
      kept = (requests.pop() ?? "").slice(0, longestLine);
      for (const request of requests) {
        if (request.trim() === "") continue;
        this.requests.count += 1;
        const reply = this.#awake ? answer(request) : null;
        if (reply !== null) this.#send(socket, reply);
      }
    });
  }

  #http(socket: Socket, answer: (request: HttpRequest) => Reply): void {
    readRequests(socket, (request) => {
      if (!this.#awake) {
        socket.resetAndDestroy();
        return;
      }
      this.requests.count += 1;
      this.#send(socket, answer(request));
    });
  }

  #frames(socket: Socket, answer: (request: string) => Reply | null): void {
    readFrames(socket, (request) => {
      this.requests.count += 1;
      const reply = answer(request);
      if (reply !== null) this.#send(socket, reply);
    });
  }

  #send(socket: Socket, healthy: Reply): void {
    const fault = faultOf(this.#fault);
    const reply = fault?.change?.(healthy, this.requests.count) ?? healthy;
    const bytes = bytesOf(reply);
    if (fault?.send !== undefined) fault.send(socket, Buffer.from(bytes), fault.ms ?? 0);
    else if (reply.close) socket.end(bytes);
    else socket.write(bytes);
  }
}

const protocols = ["rpc", "lines", "http", "frames"] as const;

/** Bytes of a request in a line of JSON; a longer one is cut, which makes it invalid. */
const longestLine = 65_536;

/**
 * HTTP begins with a method in upper case, cgminer's commands with a brace or a lower-case letter. A frame begins
 * with its length, which may resemble either but ends with two zero bytes.
 */
function protocolOf(start: Buffer): (typeof protocols)[number] {
  const [byte = 0, , third, fourth] = start;
  if (third === 0 && fourth === 0) return "frames";
  if (byte >= 0x41 && byte <= 0x5a) return "http";
  return byte === 0x7b || (byte >= 0x61 && byte <= 0x7a) ? "rpc" : "frames";
}

/** A faulty rig may still answer after the client has ended its side, but not forever. */
function leaveLater(socket: Socket): void {
  socket.setTimeout(10_000, () => socket.destroy());
}

/** Locally administered, so that it belongs to no real device. */
function macOf(index: number): string {
  const hex = index.toString(16).toUpperCase().padStart(8, "0");
  return `02:51:${hex.match(/../g)?.join(":")}`;
}

function conversationOf(rig: SimulatedRig, spec: RigSpec): Conversation {
  switch (spec.kind) {
    case "antminer": {
      const { model = "S19", password = "root", speaks = "both", modeAsText = false, nonceSeconds = 600 } = spec;
      return antminer(rig, { model, password, speaks, modeAsText, nonceSeconds });
    }
    case "cgminer":
      return cgminer(rig, {
        dialect: spec.dialect ?? "cgminer",
        privileged: spec.privileged ?? true,
        grants: spec.grants ?? [],
        dualAlgorithm: spec.dualAlgorithm,
      });
    case "avalon": {
      const { generation = "q", password = "root", helps = true } = spec;
      return avalon(rig, { generation, password, helps });
    }
    case "axeos":
      return axeos(rig, { pausable: spec.pausable ?? true });
    case "braiins": {
      const { generation = "boser", password = "", tokenSeconds = 3600 } = spec;
      return braiins(rig, { generation, password, tokenSeconds });
    }
    case "elphapex":
      return elphapex(rig, { password: spec.password ?? "root", asleep: spec.asleep ?? false });
    case "hammer":
      return hammer(rig, spec.password ?? "root");
    case "hiveon":
      return hiveon(rig, spec.password ?? "root");
    case "mara":
      return mara(rig, spec.password ?? "root");
    case "mujina":
      return mujina(rig);
    case "mskminer":
      return mskminer(rig, spec.password ?? "root");
    case "whatsminer": {
      const { generation = "v2", writable = true, compatible = true, errors = [] } = spec;
      const password = spec.password ?? (generation === "v3" ? "super" : "admin");
      return whatsminer(rig, { generation, password, writable, compatible, errors });
    }
    case "innosilicon": {
      const { password = "admin", tokenSeconds = 3600, error = 0 } = spec;
      return innosilicon(rig, { password, tokenSeconds, error });
    }
    case "luxos":
      return luxos(rig, { joins: spec.joins ?? true, managed: spec.managed ?? false });
    case "vnish": {
      const { version = "1.3.4", password = "admin", apiKey = null, tokenSeconds = 600 } = spec;
      const { hidesPasswords = false, switchesPresets = false } = spec;
      return vnish(rig, { version, password, apiKey, tokenSeconds, hidesPasswords, switchesPresets });
    }
    case "epic": {
      const { password = "letmein", tunesPower = true, idlesWithoutPool = false } = spec;
      return epic(rig, { password, tunesPower, idlesWithoutPool });
    }
    case "auradine": {
      const { username = "admin", password = "admin", tokenSeconds = 3600 } = spec;
      return auradine(rig, { username, password, tokenSeconds });
    }
    case "goldshell": {
      const { username = "admin", password = "123456789", skipsLevels = false } = spec;
      const { encrypted = "bbad7537f4c8b6ea31eea0b3d760e257" } = spec;
      return goldshell(rig, { username, password, encrypted, skipsLevels });
    }
    case "sealminer": {
      const { username = "seal", password = "seal", privileged = true, sessionSeconds = 3600 } = spec;
      return sealminer(rig, { username, password, privileged, sessionSeconds });
    }
    case "apollo":
      return apollo(rig, { password: spec.password ?? "apollopass", tokenSeconds: spec.tokenSeconds ?? 3600 });
    case "proto": {
      const { password = "protopass", older = false, tokenSeconds = 3600 } = spec;
      return proto(rig, { password, older, tokenSeconds });
    }
    case "iceriver": {
      const { username = "admin", password = "12345678", hidesMac = false, sessionSeconds = 3600 } = spec;
      return iceriver(rig, { username, password, hidesMac, sessionSeconds });
    }
    case "volcminer":
      return volcminer(rig, spec.password ?? "ltc@dog");
    case "xmrig":
      return xmrig(rig, { token: spec.token ?? null, restricted: spec.restricted ?? true });
    default: {
      const { answer, algorithm } = programs[spec.kind];
      return answer(new Program(rig, spec, algorithm));
    }
  }
}
