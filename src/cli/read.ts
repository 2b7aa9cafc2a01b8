import { Command, Option } from "commander";
import { didYouMean } from "../config/index.ts";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Identity } from "../contract/readings.ts";
import { parseAddress } from "../link/address.ts";
import type { Driver, Halt, Locked, Reading } from "../link/driver.ts";
import { drivers } from "../link/drivers/index.ts";
import { type Identified, identify } from "../link/identify.ts";
import { haltOf } from "../link/reason.ts";
import { failing } from "./failure.ts";
import { rigText } from "./rig-text.ts";

/** What is known of a rig after one read. */
export interface RigReport {
  /** Id of the driver that reads it. */
  readonly driver: string;
  readonly identity: Identity;
  readonly readings: Reading["readings"];
  /** Why it does not hash; null while it does. */
  readonly reason: Halt | null;
  readonly pools: readonly ReportedPool[];
  readonly controls: Reading["controls"];
  /** What keeps the rest of its controls back; absent where nothing does. */
  readonly locked?: Locked;
}

type ReportedPool = Pick<
  Reading["pools"][number],
  "url" | "worker" | "status" | "active" | "priority" | "quota" | "accepted" | "rejected" | "stale"
>;

interface ReadOptions {
  readonly driver?: string;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  readonly makersLogin?: true;
  readonly json?: true;
}

/** s, for everything together. */
const timeLimit = 15;

export function readCommand(): Command {
  return new Command("read")
    .description("Finds out what a rig is and reads it once.")
    .argument("<address>", "host, host:port or http(s)://host:port")
    .option("--driver <name>", `try only this driver: ${drivers.map(({ id }) => id).join(", ")}`)
    .addOption(new Option("--username <name>", "for the rig's own login").env("RIGBRIDGE_USERNAME"))
    .addOption(new Option("--password <word>", "for the rig's own login").env("RIGBRIDGE_PASSWORD"))
    .addOption(new Option("--token <token>", "the rig's access token").env("RIGBRIDGE_TOKEN"))
    .option("--makers-login", "try the login that the maker gives all its rigs, where none is given")
    .option("--json", "print JSON, in SI units")
    .addHelpText(
      "after",
      "\nOther users of this machine see a command's options; secrets are safer in the environment.",
    )
    .action(failing(read));
}

async function read(address: string, { driver, json, ...credentials }: ReadOptions): Promise<void> {
  const place = parseAddress(address);
  const only = driver === undefined ? undefined : driverCalled(driver);
  const signal = AbortSignal.timeout(timeLimit * 1000);
  const report = await reportOf(identify(place, credentials, signal, only), signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new RigbridgeError("rig.timeout", `${address} did not answer within ${timeLimit} s`, { cause: error });
  });
  console.log(json ? JSON.stringify(report, null, 2) : rigText(report, address));
}

function driverCalled(name: string): Driver {
  const ids = drivers.map(({ id }) => id);
  const driver = drivers.find(({ id }) => id === name);
  if (driver !== undefined) return driver;
  throw invalid("--driver", `must be one of ${ids.join(", ")}${didYouMean(name, ids)}`);
}

async function reportOf(found: Promise<Identified>, signal: AbortSignal): Promise<RigReport> {
  const { driver, rig, identity: recognised } = await found;
  try {
    const reading = await rig.read(signal);
    const { identity, readings, pools, controls, locked } = reading;
    return {
      driver: driver.id,
      identity: {
        make: identity.make ?? recognised.make,
        model: identity.model ?? recognised.model,
        firmware: identity.firmware ?? recognised.firmware,
        mac: identity.mac ?? recognised.mac,
        hostname: identity.hostname ?? recognised.hostname,
        serial: identity.serial ?? recognised.serial,
      },
      readings,
      reason: haltOf(reading),
      pools: pools.map(({ url, worker, status, active, priority, quota, accepted, rejected, stale }) => ({
        url,
        worker,
        status,
        active,
        priority,
        quota,
        accepted,
        rejected,
        stale,
      })),
      controls,
      ...(locked === undefined ? {} : { locked }),
    };
  } finally {
    rig.close();
  }
}
