import type { ModbusRegister } from "../../contract/facility-settings.ts";
import type { Measured } from "./facility-link.ts";

const sizes: Readonly<Record<ModbusRegister["type"], number>> = {
  u16: 1,
  s16: 1,
  u32: 2,
  s32: 2,
  u64: 4,
  s64: 4,
  f32: 2,
  f64: 4,
};

/**
 * What stands for no value: the highest of a type, as on ABB's meters. With 16 bits it may be measured. As a number, the
 * highest of 64 bits is also that of a few below it.
 */
const noValues: Readonly<Partial<Record<ModbusRegister["type"], number>>> = {
  u32: 2 ** 32 - 1,
  s32: 2 ** 31 - 1,
  u64: Number(2n ** 64n - 1n),
  s64: Number(2n ** 63n - 1n),
};

/** Registers of two bytes that a number takes. */
export const registersOf = ({ type }: Pick<ModbusRegister, "type">): number => sizes[type];

/** The number in the bytes of a register list, scaled. */
export function numberIn(
  bytes: Buffer,
  { type, order, scale }: Pick<ModbusRegister, "type" | "order" | "scale">,
): Measured {
  const value = plainNumber(inOrder(bytes, order), type);
  if (value === noValues[type]) return { problem: "has no value" };
  if (Number.isNaN(value)) return { problem: "is not a number (NaN)" };
  if (!Number.isFinite(value)) return { problem: "is infinite" };
  // Without the error of binary fractions: 2301 × 0.1 is 230.1.
  return { value: Number((value * scale).toPrecision(type === "f32" ? 8 : 12)) };
}

/** The bytes with the highest first; with one register, only the bytes within it can be swapped. */
function inOrder(bytes: Buffer, order: ModbusRegister["order"]): Buffer {
  const copy = Buffer.from(bytes);
  if (order === "badc" || order === "dcba") copy.swap16();
  if (order === "abcd" || order === "badc") return copy;
  const words = Array.from({ length: copy.length / 2 }, (_, word) => copy.subarray(2 * word, 2 * word + 2));
  return Buffer.concat(words.reverse());
}

function plainNumber(bytes: Buffer, type: ModbusRegister["type"]): number {
  switch (type) {
    case "u16":
      return bytes.readUInt16BE();
    case "s16":
      return bytes.readInt16BE();
    case "u32":
      return bytes.readUInt32BE();
    case "s32":
      return bytes.readInt32BE();
    case "u64":
      return Number(bytes.readBigUInt64BE());
    case "s64":
      return Number(bytes.readBigInt64BE());
    case "f32":
      return bytes.readFloatBE();
    case "f64":
      return bytes.readDoubleBE();
  }
}
