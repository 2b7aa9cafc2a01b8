import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { startFarm } from "../../src/simulator/farm.ts";

/**
 * A program that is started, watched and ended as XMRig is, and hashes nothing. It takes XMRig's command line and speaks
 * XMRig's API by the simulator. With options of its own, given by the parameters of a miner, it behaves otherwise.
 */
const { values } = parseArgs({
  args: process.argv.slice(2),
  strict: false,
  options: {
    "http-host": { type: "string" },
    "http-port": { type: "string" },
    "http-access-token": { type: "string" },
    url: { type: "string", short: "o", multiple: true },
    user: { type: "string", short: "u", multiple: true },
    pass: { type: "string", short: "p", multiple: true },
    algo: { type: "string", short: "a" },
    /** Ends after so many ms with this code. */
    "double-end-after": { type: "string" },
    "double-code": { type: "string" },
    /** Ends by SIGKILL only. */
    "double-stubborn": { type: "boolean" },
    /** Starts another process that outlives it. */
    "double-child": { type: "boolean" },
    /** Uses so many bytes, which the system takes some time to collect when it ends. */
    "double-memory": { type: "string" },
    /** Prints so many lines of 100 bytes a second. */
    "double-chatter": { type: "string" },
    "double-mute": { type: "boolean" },
    /** Has a hash rate at once, not after ten seconds. */
    "double-warm": { type: "boolean" },
  },
});

const text = (name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
};
const all = (name: string): string[] => {
  const value = values[name];
  return Array.isArray(value) ? value.map(String) : [];
};
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say(`mining double, process ${process.pid}`);
say(`algorithm ${text("algo") ?? "none"}, pools ${all("url").join(" ")}, password ${all("pass").join(" ")}`);

const stop = (signal: NodeJS.Signals): void => {
  say(`got ${signal} at ${Date.now()}`);
  if (values["double-stubborn"] !== true) process.exit(0);
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(signal));

if (values["double-child"] === true)
  spawn(process.execPath, ["-e", "process.on('SIGINT', () => {}); setInterval(() => {}, 1000)"], { stdio: "ignore" });
const memory = Buffer.alloc(Number(text("double-memory") ?? 0), 1);

const chatter = Number(text("double-chatter") ?? 0);
if (chatter > 0) setInterval(() => say(`${"x".repeat(98)}\n`.repeat(chatter / 10).trimEnd()), 100);

const endAfter = text("double-end-after");
const end = (): void => process.exit(Number(text("double-code") ?? 0));
if (endAfter === "0") end();
else if (endAfter !== undefined) setTimeout(end, Number(endAfter));

const port = Number(text("http-port") ?? 0);
if (port > 0 && values["double-mute"] !== true) {
  const token = text("http-access-token");
  const farm = await startFarm({
    rigs: [
      {
        kind: "xmrig",
        host: text("http-host") ?? "127.0.0.1",
        port,
        warm: values["double-warm"] === true,
        ...(token === undefined ? {} : { token }),
        pools: all("url").map((url, at) => ({ url, user: all("user")[at] ?? "", password: all("pass")[at] ?? "x" })),
      },
    ],
  });
  say(`API at port ${farm.rigs[0]?.ports[0]}`);
}
setInterval(() => memory, 60_000);
