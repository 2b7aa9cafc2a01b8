import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { busOf, gpuDevice, modelOfCards, readingsOfCards } from "../../../../src/link/drivers/shared/gpu-device.ts";
import { Notes, TolerantReader } from "../../../../src/link/tolerant-reader.ts";

function busIn(value: unknown): { bus: number | null; notes: string[] } {
  const notes = new Notes();
  return { bus: busOf(new TolerantReader({ bus: value }, notes, "card"), "bus"), notes: notes.list() };
}

describe("the number of a PCI bus", () => {
  test("is the same in each spelling", () => {
    const hex = (digits: number) => fc.nat(16 ** digits - 1);
    const padded = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
    fc.assert(
      fc.property(hex(2), hex(4), fc.nat(31), fc.nat(7), fc.boolean(), (bus, domain, device, part, upper) => {
        const short = `${padded(bus, 2)}:${padded(device, 2)}.${part}`;
        const spellings = [
          short,
          `${padded(domain, 4)}:${short}`,
          `${padded(domain, 8)}:${short}`,
          `${bus.toString(16)}:${device.toString(16)}`,
        ].map((text) => (upper ? text.toUpperCase() : text));
        for (const text of spellings) expect([text, busIn(text).bus]).toEqual([text, bus]);
        expect(busIn(bus)).toEqual({ bus, notes: [] });
      }),
    );
  });

  test.each(["zz:00.0", "1:2:3:4", "0000:01:00.0 x", "01:00.9", {}, [], true, -1, 256, "1e9"])(
    "is unknown, with a note, where it says %j",
    (value) => {
      const { bus, notes } = busIn(value);
      expect(bus).toBeNull();
      expect(notes).toHaveLength(1);
    },
  );

  test("is unknown without a note where nothing is said", () => {
    expect(busIn(undefined)).toEqual({ bus: null, notes: [] });
    expect(busIn(null)).toEqual({ bus: null, notes: [] });
  });
});

describe("cards", () => {
  const card = (power: number | null, more = {}) => gpuDevice({ name: "RTX 3070", power, ...more });

  test("add up their power where each that is in use reports its own", () => {
    expect(readingsOfCards([card(100), card(90.5)])).toMatchObject({ power: 190.5, powerSource: "reported" });
    expect(readingsOfCards([card(100), card(null)])).toMatchObject({ power: null, powerSource: null });
    expect(readingsOfCards([card(100), card(null, { status: "dead" })])).toMatchObject({ power: 100 });
    expect(readingsOfCards([])).toEqual({ power: null, powerSource: null, temperature: null, fans: [] });
  });

  test("show the hottest, and the fans of those that have one", () => {
    const cards = [card(1, { temperature: 61, fanPercent: 55 }), card(1, { temperature: 70, fanRpm: 0 }), card(1)];
    expect(readingsOfCards(cards)).toMatchObject({
      temperature: 70,
      fans: [
        { rpm: null, percent: 55 },
        { rpm: 0, percent: null },
      ],
    });
  });

  test("are counted by name", () => {
    const named = (name: string) => gpuDevice({ name });
    expect(modelOfCards([named("A"), named("B"), named("A")])).toBe("2 x A, B");
    expect(modelOfCards([])).toBeNull();
  });
});
