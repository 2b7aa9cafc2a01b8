import { connect, type Socket } from "node:net";
import { sendDeadline } from "../../async/send-deadline.ts";
import { type ProblemCode, RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";
import { hostAndPort } from "../address.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import { connectTimeout, cutShort, garbled, limits, socketError } from "./limits.ts";

export type ModbusTable = "coil" | "discrete" | "input" | "holding";

/**
 * The requests of one connection, each sent once. Throws `rig.refused` for what the device does not have, `rig.unreachable`
 * if it is busy or its gateway has no path to it, `rig.timeout`, or `rig.garbled`.
 */
export interface ModbusRequests {
  /** Registers in two bytes each, or coils and discrete inputs in bits from the lowest. */
  read(table: ModbusTable, address: number, count: number): Promise<Buffer>;
  /** Function 5 or 6. Throws `service.no.active` if nothing may be sent any more. */
  write(table: "coil" | "holding", address: number, value: number): Promise<void>;
}

/** Modbus TCP (modbus.org, "Modbus Messaging on TCP/IP", 1.0b): one connection for each call of `use`. */
export interface ModbusTransport {
  /** host:port, for messages. */
  readonly at: string;
  /** Requests run one after the other; the signal is the total deadline. Throws `rig.unreachable` too. */
  use<T>(work: (requests: ModbusRequests) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Cancels open connections. */
  close(): void;
}

export function modbusTransport(host: string, port: number, unit: number): ModbusTransport {
  const at = hostAndPort(host, port);
  const closing = new AbortController();
  return {
    at,
    use: async (work, signal) => {
      const within = AbortSignal.any([signal, closing.signal]);
      const { client } = await loaded();
      const socket = connect({ host, port, noDelay: true, lookup: rigLookup });
      let received = 0;
      socket.on("data", (chunk) => {
        received += chunk.length;
        if (received > limits.replyBytes) socket.destroy();
      });
      const tcp = new client.TCP(socket, unit, longestMs);
      const cancelled = new Promise<never>((_, reject) => {
        const cut = (): void => reject(cutShort(at, closing.signal.aborted ? null : signal, received));
        if (within.aborted) cut();
        within.addEventListener("abort", cut, { once: true });
      });
      // The race may be over before it rejects.
      cancelled.catch(() => undefined);
      try {
        await Promise.race([connected(at, socket), cancelled]);
        return await Promise.race([work(requestsOver(at, tcp)), cancelled]);
      } finally {
        socket.destroy();
      }
    },
    close: () => closing.abort(),
  };
}

/** Loaded for the first device, since few services have one. */
const loaded = async (): Promise<typeof import("jsmodbus")> => {
  const module = await import("jsmodbus");
  return "default" in module ? (module.default as typeof module) : module;
};

/** ms; the signal ends a request before that. */
const longestMs = 60_000;

function connected(at: string, socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(connectTimeout(at)), limits.connect);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on("error", (error) => {
      clearTimeout(timer);
      reject(socketError(at, error));
    });
    socket.once("close", () => clearTimeout(timer));
  });
}

type Client = InstanceType<typeof import("jsmodbus")["client"]["TCP"]>;

function requestsOver(at: string, client: Client): ModbusRequests {
  const bits = (table: ModbusTable): boolean => table === "coil" || table === "discrete";
  const request = (table: ModbusTable, address: number, count: number) => {
    if (table === "coil") return client.readCoils(address, count);
    if (table === "discrete") return client.readDiscreteInputs(address, count);
    return table === "input" ? client.readInputRegisters(address, count) : client.readHoldingRegisters(address, count);
  };
  return {
    read: async (table, address, count) => {
      const { response } = await request(table, address, count).catch((error: unknown) => {
        throw modbusError(at, `${table} ${address}`, error);
      });
      const bytes = response.body.valuesAsBuffer;
      const wanted = bits(table) ? Math.ceil(count / 8) : 2 * count;
      if (bytes.length !== wanted)
        throw garbled(at, `${table} ${address} has ${bytes.length} bytes instead of ${wanted}`);
      return bytes;
    },
    write: async (table, address, value) => {
      if (sendDeadline()?.isOver === true) throw new RigbridgeError("service.no.active", detail("command.noLease"));
      await (table === "coil"
        ? client.writeSingleCoil(address, value !== 0)
        : client.writeSingleRegister(address, value)
      ).catch((error: unknown) => {
        // It has accepted the write and is not done yet.
        if (exceptionCode(error) !== acknowledge) throw modbusError(at, `${table} ${address}`, error);
      });
    },
  };
}

/** The names of "Modbus Application Protocol" 1.1b3, 7, and what each says about the request. */
const exceptions: Readonly<Record<number, { readonly name: string; readonly code: ProblemCode }>> = {
  1: { name: "illegal function", code: "rig.refused" },
  2: { name: "illegal data address", code: "rig.refused" },
  3: { name: "illegal data value", code: "rig.refused" },
  // A write may have been carried out in part.
  4: { name: "server device failure", code: "rig.garbled" },
  6: { name: "server device busy", code: "rig.unreachable" },
  10: { name: "gateway path unavailable", code: "rig.unreachable" },
  // The device may have received a write, and only its answer is missing.
  11: { name: "gateway target device failed to respond", code: "rig.timeout" },
};
const acknowledge = 5;

function modbusError(at: string, what: string, error: unknown): RigbridgeError {
  const kind: unknown = typeof error === "object" && error !== null && "err" in error ? error.err : null;
  if (kind === "ModbusException") {
    const number = exceptionCode(error);
    const { name, code } = exceptions[number] ?? { name: `exception ${number}`, code: "rig.garbled" };
    return new RigbridgeError(
      code,
      `${at} ${code === "rig.refused" ? "refused" : "did not carry out"} ${what}: ${name}`,
    );
  }
  if (kind === "Timeout") return new RigbridgeError("rig.timeout", detail("link.late", { at }));
  if (kind === "Offline") return garbled(at, "closed without an answer");
  return garbled(at, `the answer to ${what} does not belong to the request`);
}

function exceptionCode(error: unknown): number {
  const response: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "response") : null;
  const body: unknown = typeof response === "object" && response !== null ? Reflect.get(response, "body") : null;
  const code: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "code") : null;
  return typeof code === "number" ? code : 0;
}
