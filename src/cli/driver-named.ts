import { didYouMean } from "../config/index.ts";
import { invalid } from "../contract/problems.ts";
import type { Driver } from "../link/driver.ts";
import { drivers } from "../link/drivers/index.ts";

/** The driver of `--driver`. Throws `input.invalid` with the nearest one. */
export function driverNamed(name: string): Driver {
  const ids = drivers.map(({ id }) => id);
  const driver = drivers.find(({ id }) => id === name);
  if (driver !== undefined) return driver;
  throw invalid("--driver", `must be one of ${ids.join(", ")}${didYouMean(name, ids)}`);
}
