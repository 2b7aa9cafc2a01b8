import { Command, Option } from "commander";
import { RigbridgeError } from "../contract/problems.ts";
import { parseAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import { type Identified, identify } from "../link/identify.ts";
import { haltOf } from "../link/reason.ts";
import { driverNamed } from "./driver-named.ts";
import { failing } from "./failure.ts";
import { type RigReport, rigText } from "./rig-text.ts";
import { examples, secretsHelp } from "./service-options.ts";

interface ReadOptions {
  readonly driver?: string;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  readonly makersLogin?: true;
  readonly json?: true;
}

/** For identifying and reading together. */
const timeoutMs = 15_000;

export function readCommand(): Command {
  return new Command("read")
    .description("Identifies a rig and reads it once.")
    .argument("<address>", "host, host:port or http(s)://host:port")
    .option("--driver <name>", `use only this driver: ${drivers.map(({ id }) => id).join(", ")}`)
    .addOption(new Option("--username <name>", "user name of the rig's own login").env("RIGBRIDGE_USERNAME"))
    .addOption(new Option("--password <word>", "password of the rig's own login").env("RIGBRIDGE_PASSWORD"))
    .addOption(new Option("--token <token>", "access token of the rig").env("RIGBRIDGE_TOKEN"))
    .option("--makers-login", "if no login is given, try the maker's default login")
    .option("--json", "print JSON, in SI units")
    .addHelpText("after", secretsHelp)
    .addHelpText(
      "after",
      examples("rigbridge read 192.168.1.50", "RIGBRIDGE_TOKEN=secret rigbridge read 192.168.1.7:8080 --json"),
    )
    .action(failing(read));
}

async function read(address: string, { driver, json, ...credentials }: ReadOptions): Promise<void> {
  const place = parseAddress(address);
  const only = driver === undefined ? undefined : driverNamed(driver);
  const signal = AbortSignal.timeout(timeoutMs);
  const report = await reportOf(identify(place, credentials, signal, only), signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new RigbridgeError("rig.timeout", `${address} did not answer within ${timeoutMs / 1000} s`, { cause: error });
  });
  console.log(json ? JSON.stringify(report, null, 2) : rigText(report, address));
}

async function reportOf(found: Promise<Identified>, signal: AbortSignal): Promise<RigReport> {
  const { driver, rig, identity: recognised } = await found;
  try {
    const reading = await rig.read(signal);
    const { identity, readings, pools, controls, devices, locked } = reading;
    const cards = devices.filter(({ kind }) => kind === "gpu");
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
      ...(cards.length === 0 ? {} : { cards }),
      ...(locked === undefined ? {} : { locked }),
    };
  } finally {
    rig.close();
  }
}
