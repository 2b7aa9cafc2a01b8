import type { Driver, Reading } from "../src/link/driver.ts";

/** What the rig calls itself that the program fails over, and what is then said in the log. */
export const failing = { hostname: "failing", fault: "an invented fault of the driver" } as const;

/**
 * Lets the program fail over what one rig says, as a mistake in a driver would: whoever looks at this field of its
 * readings, as "readings.boards.0.slot", gets an exception, from the first look on or after so many. Returns what undoes
 * it.
 */
export function failOver(drivers: readonly Driver[], field: string, { after = 0 } = {}): () => void {
  let isOver = false;
  let looks = 0;
  const fail = (value: unknown): unknown => {
    looks += 1;
    if (isOver || looks <= after) return value;
    throw new TypeError(failing.fault);
  };
  const restores = drivers.map((driver) => {
    const { connect } = driver;
    const patched: Driver["connect"] = (link) => {
      const rig = connect.call(driver, link);
      const read = rig.read.bind(rig);
      rig.read = async (signal) => {
        const reading = await read(signal);
        return reading.identity.hostname === failing.hostname ? spoilt(reading, field.split("."), fail) : reading;
      };
      return rig;
    };
    Object.assign(driver, { connect: patched });
    return () => void Object.assign(driver, { connect });
  });
  return () => {
    isOver = true;
    for (const restore of restores) restore();
  };
}

/** A copy with a field that fails. */
function spoilt(reading: Reading, path: readonly string[], fail: (value: unknown) => unknown): Reading {
  const copy = structuredClone(reading);
  let holder: object = copy;
  for (const key of path.slice(0, -1)) {
    const next: unknown = Reflect.get(holder, key);
    if (typeof next !== "object" || next === null) throw new Error(`a reading has no ${path.join(".")}`);
    holder = next;
  }
  const last = path.at(-1) ?? "";
  const value: unknown = Reflect.get(holder, last);
  Object.defineProperty(holder, last, { enumerable: true, get: () => fail(value) });
  return copy;
}

/** How a program of its own is started so that it fails so; `drivers`: the module of the drivers that it loads. */
export const failingProgram = (drivers: URL, field: string) => ({
  node: ["--import", new URL("./failing-rig.preload.ts", import.meta.url).href],
  env: { FAILING_DRIVERS: drivers.href, FAILING_FIELD: field },
});
