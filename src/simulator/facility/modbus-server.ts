import { createServer, type Socket } from "node:net";

/** The memory of a Modbus device, asked for each request. */
export interface ModbusMemory {
  /** The value of a register or bit, 0 to 65535; null: there is none at this address. */
  read(table: "coil" | "discrete" | "input" | "holding", address: number): number | null;
  /** false: nothing can be written there. */
  write(table: "coil" | "holding", address: number, value: number): boolean;
  /** Whether it answers at all. */
  readonly answers: boolean;
  /** The exception that it answers to every request, also to a write that it carries out, as gateways do; absent: none. */
  readonly exception?: number | null;
}

export interface ModbusServer {
  readonly port: number;
  /** Requests that it has received, by function code. */
  readonly requests: readonly number[];
  close(): Promise<void>;
}

const tables = { 1: "coil", 2: "discrete", 3: "holding", 4: "input" } as const;
const headBytes = 7;
/** "Modbus Application Protocol" 1.1b3, 7. */
const exceptions = { function: 1, address: 2, value: 3 } as const;

/** A Modbus TCP server with functions 1 to 6. */
export async function startModbusServer(memory: ModbusMemory, host: string, port = 0): Promise<ModbusServer> {
  const requests: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    let pending: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= headBytes && pending.length >= 6 + pending.readUInt16BE(4)) {
        const length = 6 + pending.readUInt16BE(4);
        const request = pending.subarray(0, length);
        pending = pending.subarray(length);
        const body = request.subarray(headBytes);
        requests.push(body[0] ?? 0);
        if (!memory.answers) continue;
        const carriedOut = answerTo(body, memory);
        const { exception = null } = memory;
        const answer = exception === null ? carriedOut : exceptionTo(body, exception);
        const head = Buffer.from(request.subarray(0, headBytes));
        head.writeUInt16BE(answer.length + 1, 4);
        socket.write(Buffer.concat([head, answer]));
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const exceptionTo = (request: Buffer, exception: number): Buffer => Buffer.from([(request[0] ?? 0) | 0x80, exception]);

function answerTo(request: Buffer, memory: ModbusMemory): Buffer {
  const code = request[0] ?? 0;
  const refused = (exception: number): Buffer => exceptionTo(request, exception);
  if (request.length < 5) return refused(exceptions.value);
  const [address, second] = [request.readUInt16BE(1), request.readUInt16BE(3)];
  if (code === 5 || code === 6) {
    const isCoil = code === 5;
    const value = isCoil ? Number(second === 0xff00) : second;
    return memory.write(isCoil ? "coil" : "holding", address, value)
      ? Buffer.from(request)
      : refused(exceptions.address);
  }
  if (code !== 1 && code !== 2 && code !== 3 && code !== 4) return refused(exceptions.function);
  if (second < 1 || second > 125) return refused(exceptions.value);
  const values = Array.from({ length: second }, (_, index) => memory.read(tables[code], address + index));
  if (values.includes(null)) return refused(exceptions.address);
  const bytes = code <= 2 ? bitsOf(values) : wordsOf(values);
  return Buffer.concat([Buffer.from([code, bytes.length]), bytes]);
}

function bitsOf(values: readonly (number | null)[]): Buffer {
  const bytes = Buffer.alloc(Math.ceil(values.length / 8));
  for (const [index, value] of values.entries()) {
    if (value !== 0 && value !== null) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return bytes;
}

function wordsOf(values: readonly (number | null)[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value ?? 0, index * 2);
  return bytes;
}
