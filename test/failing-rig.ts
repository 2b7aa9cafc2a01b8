import type { Driver, Reading } from "../src/link/driver.ts";

/** The host name of the rig that makes the program fail, and the error then logged. */
export const failing = { hostname: "failing", fault: "an invented fault of the driver" } as const;

/**
 * Makes the program fail on one rig's reading, as a bug in a driver would: accessing this field, such as
 * "readings.boards.0.slot", throws, at once or after some accesses. Returns a function that undoes it.
 */
export function failOver(drivers: readonly Driver[], field: string, { after = 0 } = {}): () => void {
  let isUndone = false;
  let accesses = 0;
  const fail = (value: unknown): unknown => {
    accesses += 1;
    if (isUndone || accesses <= after) return value;
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
    isUndone = true;
    for (const restore of restores) restore();
  };
}

/** A copy with a field that throws. */
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

/** Arguments and environment that make a separate program fail in this way; `drivers` is the module it loads. */
export const failingProgram = (drivers: URL, field: string) => ({
  node: ["--import", new URL("./failing-rig.preload.ts", import.meta.url).href],
  env: { FAILING_DRIVERS: drivers.href, FAILING_FIELD: field },
});
