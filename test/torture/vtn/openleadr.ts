import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, globSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../../store/postgres.ts";
import { until, within } from "../../until.ts";
import { isThere, kept, run } from "../openapi/tools.ts";

const version = "0.2.8";

/** openleadr-vtn of crates.io as a process of its own, over a PostgreSQL of its own. It listens at all addresses. */
export interface OpenLeadr {
  readonly url: string;
  /** The client of a VEN with the target "texas", which may read events. */
  readonly ven: Login;
  /** What its tokens are signed with (HS256). */
  secret(): Buffer;
  /** Sends a request of the business client; the JSON of the answer. Rejects unless it succeeds. */
  ask(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
  /** Starts it again, so that all tokens of before are refused. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface Login {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Why it cannot be built and run here; null if it can. */
export function reasonAgainst(): string | null {
  if (!isThere("cargo")) return "cargo is not on this machine";
  if (!isThere("cmake")) return "its MQTT library is built with cmake, which is not on this machine";
  if (!isThere("pkg-config", "openssl"))
    return "its MQTT library needs the headers of OpenSSL (libssl-dev), found by pkg-config";
  return hasPostgres("openleadr-vtn") ? null : "there is no PostgreSQL";
}

/** The path of its program, which takes some minutes to compile and is kept; null if it cannot be built. */
export async function builtVtn(): Promise<string | null> {
  const folder = await kept(`openleadr-vtn-${version}`, async (cwd) => {
    const features = ["--features", "internal-oauth,postgres"];
    // Unoptimized, which compiles faster: it has little to do.
    const args = ["install", `openleadr-vtn@${version}`, "--debug", "--root", cwd, ...features];
    if ((await run("cargo", args, { cwd, env: { CARGO_PROFILE_DEV_DEBUG: "false" } })) === null) return false;
    const registry = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
    const [migrations] = globSync(join(registry, "*", `openleadr-vtn-${version}`, "migrations"));
    if (migrations === undefined) return false;
    cpSync(migrations, join(cwd, "migrations"), { recursive: true });
    return true;
  });
  return folder && join(folder, "bin", "openleadr-vtn");
}

/** A user of its own test data, whose secret is its name. */
const business: Login = { clientId: "bl-client", clientSecret: "bl-client" };
const businessHash = "$argon2id$v=19$m=16,t=2,p=1$MWt1QVNFdHdlZVJhNEZzUA$Rmkguwgaz+A2GWIaDRtv8w";
const addBusiness = `
  insert into "user" (id, reference, scopes, created, modified) values ('business', 'business',
    '{read_all, write_programs, write_events, write_vens_bl, write_users}', now(), now());
  insert into user_credentials (user_id, client_id, client_secret)
    values ('business', '${business.clientId}', '${businessHash}');`;

/**
 * It makes its tables when it starts. One of its statements has a subquery without an alias, which PostgreSQL takes from
 * version 16 on: for an older one, this makes them.
 */
async function migrate(postgres: Postgres, database: string, program: string): Promise<void> {
  const [row] = await postgres.run("show server_version_num");
  if (Number(row?.server_version_num) >= 160_000) return;
  const folder = join(dirname(program), "..", "migrations");
  for (const file of readdirSync(folder).sort()) {
    const sql = readFileSync(join(folder, file), "utf8");
    await postgres.run(sql.replace("(SELECT unnest(_scopes) AS scope)", "$& AS listed"), database);
  }
}

export async function startOpenLeadr(program: string): Promise<OpenLeadr> {
  const postgres = await startPostgres();
  const database = await postgres.database();
  await migrate(postgres, database, program);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const ven: Login = { clientId: "rigbridge", clientSecret: randomBytes(16).toString("hex") };
  let secret = randomBytes(32);
  let child: ChildProcess | undefined;
  let output = "";
  let token: string | null = null;
  process.once("exit", () => child?.kill("SIGKILL"));
  // Without a handler, a signal ends the process without its exit.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

  const start = async (): Promise<void> => {
    secret = randomBytes(32);
    token = null;
    const started = spawn(program, [], {
      cwd: postgres.folder,
      env: {
        DATABASE_URL: postgres.url(database),
        PORT: String(port),
        OAUTH_TOKEN_URL: `${url}/auth/token`,
        OAUTH_BASE64_SECRET: secret.toString("base64"),
        RUST_LOG: "warn",
        NO_COLOR: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.on("data", (text) => {
        output += text;
      });
    const isUp = async (): Promise<boolean> => {
      if (started.exitCode !== null) throw new Error(`openleadr-vtn has ended: ${output}`);
      return fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    };
    await until(isUp, "openleadr-vtn to answer", { details: () => output });
  };
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await within(ended, "openleadr-vtn to end", { details: () => output });
  };
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    token ??= await tokenOf(url, business);
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url + path, { method, headers, ...sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} is answered with ${answer.status}: ${text}\n${output}`);
    return JSON.parse(text);
  };

  await start();
  await postgres.run(addBusiness, database);
  const user = idOf(await ask("POST", "/users", { reference: "ven", scope: ["read_targets", "read_ven_objects"] }));
  await ask("POST", `/users/${user}`, { client_id: ven.clientId, client_secret: ven.clientSecret });
  const targets = ["texas"];
  await ask("POST", "/vens", { objectType: "BL_VEN_REQUEST", clientID: ven.clientId, venName: "Rigbridge", targets });
  return {
    url,
    ven,
    secret: () => secret,
    ask,
    stop,
    start,
    close: async () => {
      await stop();
      await postgres.stop();
    },
  };
}

/** A token of client credentials. Rejects if it is refused. */
export async function tokenOf(url: string, { clientId, clientSecret }: Login): Promise<string> {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer: unknown = await (await fetch(`${url}/auth/token`, { method: "POST", body })).json();
  if (typeof answer !== "object" || answer === null || !("access_token" in answer))
    throw new Error(`${clientId} is refused a token: ${JSON.stringify(answer)}`);
  return String(answer.access_token);
}

/** The id of an object that was added. */
export function idOf(object: unknown): string {
  if (typeof object !== "object" || object === null || !("id" in object)) throw new Error("an object has no id");
  return String(object.id);
}
