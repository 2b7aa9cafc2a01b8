import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { say } from "../say.ts";

/**
 * A real Home Assistant from PyPI in a Debian of its own. It needs a newer Python than most systems have, so it runs in a
 * chroot with Debian unstable, which is kept in a cache folder: the first run takes some minutes, later ones none.
 */
export interface Installed {
  /** The Debian's root folder, as seen from here. */
  readonly root: string;
  readonly version: string;
  /** Starts a program of Home Assistant's Python, such as `hass`. Its processes end with it. */
  start(program: string, args: readonly string[]): ChildProcess;
  /** Runs one to its end: its stdout. Rejects with its output when it fails. */
  run(program: string, args: readonly string[], input?: string): Promise<string>;
}

/** What pip installs; the facts in test/mqtt are of this version. */
const requirement = "homeassistant~=2026.11.0";
/** Some packages of Home Assistant are compiled. */
const packages = ["python3", "python3-venv", "python3-dev", "g++", "ca-certificates"];
/** Home Assistant's integrations that an instance of the proof loads, besides those which it always does. */
const integrations = [
  "mqtt",
  "rest",
  "rest_command",
  "automation",
  "template",
  "config",
  "api",
  "websocket_api",
  "isal",
];

const venv = "/opt/home-assistant";
const minutes = 60_000;

/** Why Home Assistant cannot be installed here; null if it can. */
export function reasonAgainst(): string | null {
  if (process.platform !== "linux") return "Home Assistant runs in a Linux chroot here, so this proof needs Linux";
  if (process.getuid?.() !== 0) return "only root can install Home Assistant in a chroot and run it there";
  if (!has("apt-get")) return "the chroot is a Debian that debootstrap installs, so this proof needs apt-get";
  return has("mosquitto") || existsSync("/usr/sbin/mosquitto")
    ? null
    : "there is no mosquitto; install it with apt-get";
}

export async function installed(): Promise<Installed> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "rigbridge", "home-assistant");
  const root = join(cache, "root");
  const recipe = JSON.stringify({ requirement, packages, integrations });
  const stamp = join(cache, "recipe.json");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== recipe) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    await installDebian(root, join(cache, "debootstrap.log"));
    await installHomeAssistant(inside(root, ""));
    writeFileSync(stamp, recipe);
  }
  const here = inside(root, "");
  return { ...here, version: (await here.run("hass", ["--version"])).trim() };
}

async function installDebian(root: string, log: string): Promise<void> {
  if (!has("debootstrap")) {
    say("Installing debootstrap");
    await must("apt-get", ["update", "--quiet"], 5);
    await must("apt-get", ["install", "--yes", "--quiet", "--no-install-recommends", "debootstrap"], 5);
  }
  const { mirror, proxy } = await archive();
  say(`Installing Debian unstable into ${root}`);
  const args = ["--variant=minbase", `--include=${packages.join(",")}`, "sid", root, mirror];
  const output = await must("debootstrap", args, 20, proxy === "" ? {} : { http_proxy: proxy });
  writeFileSync(log, output);
  for (const file of ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", ...certificates()]) {
    if (!existsSync(file)) continue;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(file, join(root, file), { dereference: true });
  }
}

/** The Debian archive and the proxy that apt uses on this machine. */
async function archive(): Promise<{ mirror: string; proxy: string }> {
  const targets = () =>
    must("apt-get", ["indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"], 1);
  const named = (text: string) => /^(\S+) Debian$/m.exec(text)?.[1];
  let mirror = named(await targets());
  if (mirror === undefined) {
    await must("apt-get", ["update", "--quiet"], 5);
    mirror = named(await targets());
  }
  if (mirror === undefined) throw new Error("apt is set up with no Debian archive, from which the chroot could come");
  const proxy = /'(.*)'/.exec(await must("apt-config", ["shell", "proxy", "Acquire::http::Proxy"], 1))?.[1] ?? "";
  return { mirror, proxy };
}

/** The files of certificates that pip is set up with here. */
const certificates = (): string[] =>
  [process.env.PIP_CERT, process.env.SSL_CERT_FILE].filter((file) => file !== undefined);

async function installHomeAssistant({ root, run }: Pick<Installed, "root" | "run">): Promise<void> {
  const python = (await run("/usr/bin/python3", ["--version"])).trim();
  say(`Installing ${requirement} with ${python}`);
  await run("/usr/bin/python3", ["-m", "venv", venv]);
  await run("pip", ["install", "--quiet", requirement]);
  const file = new URL("requirements.py", import.meta.url);
  const { constraints, requirements } = Requirements.parse(
    JSON.parse(await run("python", ["-", ...integrations], readFileSync(file, "utf8"))),
  );
  say(`Installing the ${requirements.length} packages of its integrations`);
  await run("pip", ["install", "--quiet", "--constraint", constraints, ...requirements]);
  mkdirSync(join(root, "proofs"), { recursive: true });
}

const Requirements = z.object({ constraints: z.string(), requirements: z.array(z.string()) });

/** Programs inside the chroot, in namespaces of their own: mounts and processes go when the program ends. */
function inside(root: string, version: string): Installed {
  const start = (program: string, args: readonly string[]) => {
    const path = program.startsWith("/") ? program : `${venv}/bin/${program}`;
    const enter = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"';
    const alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, root, path, ...args];
    // It ends when this process does, however that happens.
    return spawn("setpriv", ["--pdeathsig", "KILL", ...alone], { env: environment(), stdio: ["pipe", "pipe", "pipe"] });
  };
  return {
    root,
    version,
    start,
    run: (program, args, input) => outputOf(start(program, args), [program, ...args].join(" "), 20, input),
  };
}

/** pip is set up as on this machine, except for folders that the chroot does not have. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => /^(PIP_|SSL_CERT_|[a-z]+_proxy$)/i.test(name) && name !== "PIP_FIND_LINKS",
  );
  return {
    ...Object.fromEntries(kept),
    PATH: `${venv}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: "/root",
    LANG: "C.UTF-8",
  };
}

const has = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

const must = (command: string, args: readonly string[], limit: number, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  outputOf(
    spawn(command, args, { env: { ...process.env, ...env, DEBIAN_FRONTEND: "noninteractive" }, stdio: "pipe" }),
    [command, ...args].join(" "),
    limit,
  );

/** Its stdout, once it has ended well; it is killed after so many minutes. */
function outputOf(child: ChildProcess, name: string, limit: number, input = ""): Promise<string> {
  const said = { stdout: "", all: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said.stdout += text;
    said.all += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said.all += text;
  });
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), limit * minutes);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(said.stdout);
      else reject(new Error(`${name} ended with ${code ?? `a signal, after ${limit} minutes at most`}:\n${said.all}`));
    });
  });
}
