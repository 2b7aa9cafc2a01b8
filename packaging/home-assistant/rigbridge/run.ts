import { spawn } from "node:child_process";
import { lchownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brokerOf, configurationOf, logLevelOf, optionsOf, wantsBroker } from "./options.ts";

/** Starts the service with the options of the app, as the user `node` of the image. */
const user = 1000;
const folder = "/data/rigbridge";
const file = join(folder, "rigbridge.yaml");

const options = optionsOf(readFileSync("/data/options.json", "utf8"));
const { SUPERVISOR_TOKEN: token = "", ...environment } = process.env;
const broker = wantsBroker(options) ? await brokerOf("http://supervisor", token).catch(stop) : null;
if (wantsBroker(options) && broker === null)
  process.stdout.write("Home Assistant has no MQTT broker; install the Mosquitto app to see the rigs as devices.\n");

function stop(error: Error): never {
  process.stderr.write(`${error.message}. Start the app again, or turn off home_assistant_mqtt in its options.\n`);
  process.exit(1);
}

mkdirSync(folder, { recursive: true, mode: 0o700 });
// A restored backup may have other owners.
for (const name of ["", ...readdirSync(folder)]) lchownSync(join(folder, name), user, user);
// Deleted first: writing to an existing file keeps its mode.
rmSync(file, { force: true });
writeFileSync(file, JSON.stringify(configurationOf(options, broker, join(folder, "rigbridge.db"))), {
  mode: 0o600,
  flag: "wx",
});
lchownSync(file, user, user);

const child = spawn(process.execPath, ["/app/dist/cli/main.js", "serve", "--config", file], {
  cwd: folder,
  env: { ...environment, HOME: folder, NODE_ENV: "production", LOG_LEVEL: logLevelOf(options) },
  stdio: "inherit",
  uid: user,
  gid: user,
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
