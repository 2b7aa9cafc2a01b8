import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort } from "../free-port.ts";
import { hasProgram } from "../has-program.ts";
import { ownHost } from "../own-host.ts";
import { until, within } from "../until.ts";

/** A real PostgreSQL of the test's own, in a temporary folder. */
export interface Postgres {
  readonly host: string;
  readonly port: number;
  readonly folder: string;
  /** The name of a new database: an empty one, or a copy of another that has no connections. */
  database(copied?: string): Promise<string>;
  /** Runs statements as the administrator. */
  run(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  url(database: string, user?: string, password?: string): string;
  /** Ends it at once, as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again, with the same data. */
  start(): Promise<void>;
  /** Starts it again as a standby of no server, which takes no writes until it is promoted. */
  becomeStandby(): Promise<void>;
  /** Starts a standby server of this one, which receives all that is written here. */
  replica(): Promise<Postgres>;
  /** Makes a standby server one that takes writes. */
  promote(): Promise<void>;
  /** Process ids of the server and its connections. */
  pids(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Debian keeps the programs of each version apart, and outside PATH. */
const folders = ["/usr/lib/postgresql/*/bin", ...(process.env.PATH ?? "").split(delimiter)];
const program = (name: string): string | undefined =>
  folders.map((each) => globSync(join(each, name)).sort().at(-1)).find((file) => file !== undefined);

export const hasPostgres = (leftOut: string): boolean =>
  hasProgram("postgres", program("postgres") !== undefined, leftOut);

const administrator = "postgres";
const password = "secret of the administrator";

/** PostgreSQL refuses to run as root. */
const unprivileged = (): { uid: number; gid: number } | null => {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const user = ["postgres", "nobody"].flatMap((name) => users.find((line) => line.startsWith(`${name}:`)) ?? [])[0];
  const [, , uid, gid] = user?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
};

const urlOf = (server: { host: string; port: number }, database: string, name = administrator, secret = password) =>
  `postgres://${name}:${encodeURIComponent(secret)}@${server.host}:${server.port}/${database}`;

export function startPostgres(settings: readonly string[] = []): Promise<Postgres> {
  return serve(settings, (data, folder) => {
    const secret = join(folder, "password");
    writeFileSync(secret, password, { mode: 0o644 });
    return [
      "initdb",
      ...["-D", data, "-U", administrator, "-A", "scram-sha-256", `--pwfile=${secret}`],
      ...["-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"],
    ];
  });
}

function killIfAny(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Also one that nobody has waited for yet. */
const hasEnded = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
};

/** `filling`: the program that fills the folder of the server's data, and its arguments. */
async function serve(
  settings: readonly string[],
  filling: (data: string, folder: string) => readonly [string, ...string[]],
): Promise<Postgres> {
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-postgres-"));
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const [filler, ...given] = filling(data, folder);
  const filled = spawn(program(filler) ?? filler, given, { ...user, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [filled.stdout, filled.stderr])
    stream.on("data", (text) => {
      said += text;
    });
  const [code] = await once(filled, "close");
  if (code !== 0) throw new Error(`${filler} failed: ${said}`);
  const host = ownHost();
  const port = await freePort();
  const options = [
    `listen_addresses=${host}`,
    `unix_socket_directories=${folder}`,
    "max_connections=30",
    "shared_buffers=16MB",
    "autovacuum=off",
    // Against a power failure only; the server is killed, the machine is not.
    "fsync=off",
    ...settings,
  ].flatMap((option) => ["-c", option]);

  let child: ChildProcess | undefined;
  let output = "";
  const url = (database: string, name?: string, secret?: string): string =>
    urlOf({ host, port }, database, name, secret);

  const run = async (sql: string, database = "postgres"): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: url(database) });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query(sql);
      return rows ?? [];
    } finally {
      await client.end();
    }
  };

  const start = async (): Promise<void> => {
    // The shell ends the server when this process ends, however it ends.
    const script = 'trap "" TERM; "$@" & server=$!; (cat; kill -QUIT $server) <&3 & wait $server; kill $!';
    const command = [program("postgres") ?? "postgres", "-D", data, "-p", String(port), ...options];
    const started = spawn("/bin/sh", ["-c", script, "sh", ...command], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    child = started;
    started.stderr?.on("data", (text) => {
      output += text;
    });
    const answers = async (): Promise<boolean> => {
      if (started.exitCode !== null) throw new Error(`postgres has ended: ${output}`);
      return run("select 1").then(
        () => true,
        () => false,
      );
    };
    await until(answers, "PostgreSQL to take connections", { details: () => output });
  };

  const postmaster = (): number => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return;
    const closed = once(child, "exit");
    process.kill(postmaster(), signal);
    await within(closed, "PostgreSQL to end", { details: () => output });
  };

  await start();
  let databases = 0;
  return {
    host,
    port,
    folder,
    url,
    run,
    start,
    database: async (copied = "template1") => {
      databases += 1;
      await run(`create database store_${databases} template ${copied}`);
      return `store_${databases}`;
    },
    // Its children would notice that it is gone, but might answer before.
    kill: async () => {
      const pid = postmaster();
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
      await end("SIGKILL");
      for (const child of children) killIfAny(child);
      await until(() => children.every(hasEnded), "the processes of PostgreSQL to end");
    },
    becomeStandby: async () => {
      await end("SIGINT");
      writeFileSync(join(data, "standby.signal"), "");
      if (user !== null) chownSync(join(data, "standby.signal"), user.uid, user.gid);
      await start();
    },
    replica: () =>
      serve(settings, (copy) => [
        "pg_basebackup",
        ...["-D", copy, "-d", url("postgres"), "--checkpoint=fast", "--write-recovery-conf", "--no-sync"],
      ]),
    promote: async () => {
      await run("select pg_promote()");
    },
    pids: async () => {
      const rows = await run(
        "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
      );
      return [postmaster(), ...rows.map(({ pid }) => Number(pid))];
    },
    stop: async () => {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
