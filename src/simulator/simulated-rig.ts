import type { Socket } from "node:net";
import { axeos } from "./axeos.ts";
import { cgminer } from "./cgminer.ts";
import { type FaultSetting, faultOf } from "./faults.ts";
import { type HttpRequest, readRequests } from "./http-message.ts";
import type { RigModel } from "./model.ts";
import { mix } from "./random.ts";
import { bytesOf, type Reply } from "./reply.ts";
import type { Conversation, RequestLog, RigBody } from "./rig.ts";
import { modelOf, type RigKind, type RigSpec } from "./rig-spec.ts";
import { xmrig } from "./xmrig.ts";

/** How a rig is put on the network and taken off it; who opens the listeners decides. */
export interface Plug {
  /** Refuses connections from now on. */
  unplug(rig: SimulatedRig): void;
  plug(rig: SimulatedRig): Promise<void>;
  /** Cuts what is open. */
  cut(rig: SimulatedRig): void;
}

/** One virtual rig of a running farm. */
export class SimulatedRig implements RigBody {
  readonly kind: RigKind;
  readonly name: string;
  readonly mac: string;
  /** The physics: fail a pool, overheat it, read what it should report (after `advance`). */
  readonly model: RigModel;
  readonly requests: RequestLog = { count: 0, writes: [] };
  readonly restartSeconds: number;
  readonly host: string;
  /** Known once the farm has started. */
  port: number;
  /** Switched on. */
  powered = true;
  #fault: FaultSetting;
  #connections = 0;
  readonly #plug: Plug;
  readonly #conversation: Conversation;

  constructor(spec: RigSpec, index: number, options: { now: () => number; seed: number; plug: Plug }) {
    const seed = mix(options.seed, index + 1);
    this.kind = spec.kind;
    this.name = spec.name ?? `${spec.kind}-${index + 1}`;
    this.mac = spec.mac ?? macOf(index);
    this.host = spec.host ?? "127.0.0.1";
    this.port = spec.port ?? 0;
    this.restartSeconds = spec.restartSeconds ?? 3;
    this.#fault = spec.fault ?? null;
    this.#plug = options.plug;
    this.model = modelOf(spec, this.name, options.now, seed);
    this.#conversation = conversationOf(this, spec);
  }

  /** As it is typed: `127.0.0.1:40123`. */
  get address(): string {
    return `${this.host}:${this.port}`;
  }

  /**
   * What goes wrong; may be set at any time. What meets a connection at its door also cuts those that are open.
   * "off" stops listening at once; after any other setting it listens again soon, unless its port is taken.
   */
  get fault(): FaultSetting {
    return this.#fault;
  }

  set fault(fault: FaultSetting) {
    const wasOff = this.#fault === "off";
    this.#fault = fault;
    if (faultOf(fault)?.connect !== undefined) this.#plug.cut(this);
    if (fault === "off") this.#plug.unplug(this);
    else if (wasOff && this.powered) this.#plug.plug(this).catch(() => this.quit());
  }

  /** Whether it should be listening. */
  get listening(): boolean {
    return this.powered && this.#fault !== "off";
  }

  /** Connections are refused, open ones are cut; the model starts afresh with `powerOn`. */
  powerOff(): void {
    this.quit();
    this.#plug.cut(this);
  }

  /** Listens again on the same port, started afresh. */
  async powerOn(): Promise<void> {
    if (this.powered) return;
    this.powered = true;
    this.model.restart(0);
    if (this.listening) await this.#plug.plug(this);
  }

  denies(): boolean {
    return faultOf(this.#fault)?.denies === true;
  }

  quit(): void {
    this.powered = false;
    this.#plug.unplug(this);
  }

  /** Holds the conversation on a connection that was just accepted. */
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
    if (this.#conversation.transport === "rpc") this.#rpc(socket, this.#conversation.answer);
    else this.#http(socket, this.#conversation.answer);
  }

  get #awake(): boolean {
    return this.listening && !this.model.starting;
  }

  #rpc(socket: Socket, answer: (request: string) => Reply | null): void {
    socket.once("data", (chunk: Buffer) => {
      this.requests.count += 1;
      const reply = answer(chunk.toString().replace(/[\0\r\n]+$/, ""));
      if (reply !== null) this.#send(socket, reply);
      socket.resume();
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

  #send(socket: Socket, reply: Reply): void {
    const fault = faultOf(this.#fault);
    const bytes = bytesOf(fault?.change?.(reply, this.requests.count) ?? reply);
    if (fault?.send !== undefined) fault.send(socket, Buffer.from(bytes), fault.ms ?? 0);
    else if (reply.close) socket.end(bytes);
    else socket.write(bytes);
  }
}

/** A rig with a fault may owe an answer after the other side has said its last word; it may not stay for ever. */
function leaveLater(socket: Socket): void {
  socket.setTimeout(10_000, () => socket.destroy());
}

/** Locally administered, so that it is nobody's. */
function macOf(index: number): string {
  const hex = index.toString(16).toUpperCase().padStart(8, "0");
  return `02:51:${hex.match(/../g)?.join(":")}`;
}

function conversationOf(rig: SimulatedRig, spec: RigSpec): Conversation {
  switch (spec.kind) {
    case "cgminer":
      return cgminer(rig, { dialect: spec.dialect ?? "cgminer", privileged: spec.privileged ?? true });
    case "axeos":
      return axeos(rig, { pausable: spec.pausable ?? true });
    case "xmrig":
      return xmrig(rig, { token: spec.token ?? null, restricted: spec.restricted ?? true });
  }
}
