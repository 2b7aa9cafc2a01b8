import type { Command } from "commander";
import { invalid } from "../contract/problems.ts";
import { parseAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import { driverNamed } from "./driver-named.ts";
import { failing } from "./failure.ts";
import { type Client, caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { printable } from "./table.ts";

interface AddOptions extends ServiceOptions {
  readonly name?: string;
  readonly group?: string;
  readonly driver?: string;
  readonly username?: string;
  readonly passwordFromEnv?: string;
  readonly tokenFromEnv?: string;
}

/** The variables from which `rigbridge read` takes a login. */
const usual = { username: "RIGBRIDGE_USERNAME", password: "RIGBRIDGE_PASSWORD", token: "RIGBRIDGE_TOKEN" } as const;

export function addCommand(): Command {
  return serviceCommand(
    "add",
    "rigbridge add 192.168.1.50 --name Garage",
    "GARAGE=secret rigbridge add 192.168.1.60 --username root --password-from-env GARAGE",
  )
    .description("Adds a rig to a running service and reads it once.")
    .argument("<address>", "host, host:port or http(s)://host:port")
    .option("--name <name>", "its name (default: that of the rig)")
    .option("--group <name>", "name or id of its group")
    .option("--driver <name>", `use only this driver: ${drivers.map(({ id }) => id).join(", ")}`)
    .option("--username <name>", `user name of the rig's own login (env: ${usual.username})`)
    .option("--password-from-env <variable>", `environment variable with its password (default: ${usual.password})`)
    .option("--token-from-env <variable>", `environment variable with its access token (default: ${usual.token})`)
    .action(failing(add));
}

async function add(address: string, options: AddOptions): Promise<void> {
  parseAddress(address);
  const { name, group, driver, username = process.env[usual.username], passwordFromEnv, tokenFromEnv } = options;
  if (driver !== undefined) driverNamed(driver);
  const password = variable("--password-from-env", passwordFromEnv, usual.password);
  const token = variable("--token-from-env", tokenFromEnv, usual.token);
  const given = { name, driver, username, password, token, group: groupIn(group) };
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  await withService(options, async (service) => {
    const { id } = await service.addMiner({ ...body, address }, caller);
    console.log(await firstRead(service, id));
  });
}

const groupIn = (group: string | undefined): string | number | undefined =>
  group !== undefined && /^\d+$/.test(group) ? Number(group) : group;

/** Throws `input.invalid` for a named variable that is not set. */
function variable(option: string, named: string | undefined, fallback: string): string | undefined {
  const value = process.env[named ?? fallback];
  if (named !== undefined && value === undefined) throw invalid(option, `${named} is not set in the environment`);
  return value;
}

/** What was added, as its first read shows it. A rig that cannot be read stays added. */
async function firstRead(service: Client, id: number): Promise<string> {
  const { name, hardware, hostDescription, statusInfo, readings } = await service.pollMiner({ id }, caller);
  const what = [hardware, hostDescription].filter((part) => part !== "" && part !== name).join(", ");
  const state = readings.at === null ? "it has not answered yet" : statusInfo.statusDisplay;
  return printable(`${name} was added (id ${id}; ${what === "" ? state : `${what}; ${state}`})`);
}
