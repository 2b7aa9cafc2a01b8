import { RigbridgeError } from "../../../contract/problems.ts";
import type { ContactSignal, ModbusSignal } from "../../../contract/signal-settings.ts";
import { parseAddress } from "../../../link/address.ts";
import { numberIn, registersOf } from "../../../link/facility/registers.ts";
import { type ModbusRequests, modbusTransport } from "../../../link/transports/modbus.ts";
import { type SignalReading, type SignalSource, type SourceContext, unheard, type Wish, wishOf } from "./signal.ts";

/** ms for one read. */
const readTimeoutMs = 5_000;

type Said = { readonly wish: Wish; readonly value: number | string } | { readonly problem: string };

/** A register of the utility's RTU. */
export function modbusSignal(settings: ModbusSignal, context: SourceContext): SignalSource {
  const { register } = settings;
  return polled(settings, context, async (requests) => {
    const bytes = await requests.read(register.table, register.address, registersOf(register));
    const number = numberIn(bytes, register);
    const what = `${register.table} ${register.address}`;
    if ("problem" in number) return { problem: `${what} ${number.problem}` };
    const { value } = number;
    const { min = 0, max = 1e9 } = register;
    if (value < min || value > max) return { problem: `${what} is ${value}, which is not from ${min} to ${max}` };
    return { wish: wishOf(value, settings), value };
  });
}

/** A dry contact at a discrete input. */
export function contactSignal(settings: ContactSignal, context: SourceContext): SignalSource {
  return polled(settings, context, async (requests) => {
    const bytes = await requests.read("discrete", settings.input, 1);
    const isClosed = ((bytes[0] ?? 0) & 1) === 1;
    const isCurtailed = isClosed === (settings.closed === "curtail");
    const wish: Wish = isCurtailed
      ? { kind: "curtail", id: "contact", target: null, until: null, urgent: false, text: "" }
      : { kind: "run" };
    return { wish, value: isClosed ? "closed" : "open" };
  });
}

function polled(
  { address, unit, interval }: Pick<ModbusSignal, "address" | "unit" | "interval">,
  { monotonicNow, changed }: SourceContext,
  read: (requests: ModbusRequests) => Promise<Said>,
): SignalSource {
  const { host, port } = parseAddress(address);
  const transport = modbusTransport(host, port ?? 502, unit);
  let reading: SignalReading = unheard;
  let dueAt = Number.NEGATIVE_INFINITY;
  let isReading = false;

  const said = async (): Promise<SignalReading> => {
    try {
      const answer = await transport.use(read, AbortSignal.timeout(readTimeoutMs));
      if ("problem" in answer) return { ...reading, problem: `${transport.at}: ${answer.problem}` };
      return { ...answer, heard: monotonicNow(), problem: null, refused: null };
    } catch (error) {
      return { ...reading, problem: error instanceof RigbridgeError ? error.message : String(error) };
    }
  };
  return {
    get reading() {
      return reading;
    },
    turn: async () => {
      if (isReading || monotonicNow() < dueAt) return;
      isReading = true;
      dueAt = monotonicNow() + interval * 1000;
      reading = await said();
      isReading = false;
      changed();
    },
    close: () => transport.close(),
  };
}
