import { z } from "zod";
import { temperatureOfBoard } from "./cgminer/reports.ts";
import { type HttpRequest, httpReply } from "./http-message.ts";
import { objectIn } from "./json.ts";
import type { Pool, RigModel } from "./model.ts";
import { mix } from "./random.ts";
import type { Reply } from "./reply.ts";
import { type Conversation, logWrite, type RigBody } from "./rig.ts";

interface ApolloOptions {
  readonly password: string;
  /** Seconds until a token expires. */
  readonly tokenSeconds: number;
}

/** A FutureBit Apollo II: a GraphQL API with open statistics; all else needs a bearer token. */
export function apollo(body: RigBody, options: ApolloOptions): Conversation {
  const rig = new ApolloRig(body, options);
  return {
    http: (request) => {
      body.model.advance();
      return rig.answer(request);
    },
  };
}

const NewPool = z.strictObject({ enabled: z.boolean(), url: z.string(), username: z.string(), password: z.string() });
const OldPool = z.strictObject({ id: z.int(), enabled: z.boolean() });
const Id = z.strictObject({ id: z.int() });
const Whole = z.strictObject({
  pools: z.array(NewPool.extend({ index: z.int(), donation: z.null(), proxy: z.null() })).min(1),
});
const Settings = z.strictObject({ minerMode: z.enum(["eco", "balanced", "turbo"]) });

/** Of the rated power. */
const levels = { eco: 0.6, balanced: 0.8, turbo: 1 } as const;

class ApolloRig {
  readonly #body: RigBody;
  readonly #options: ApolloOptions;
  #token: { readonly text: string; readonly until: number } | null = null;
  #logins = 0;
  /** Stored; it takes effect with the next start. */
  #mode: keyof typeof levels = "turbo";
  /** Ids of the pools, in their order. */
  #ids: number[];
  #nextId: number;

  constructor(body: RigBody, options: ApolloOptions) {
    this.#body = body;
    this.#options = options;
    this.#ids = body.model.pools.map((_, index) => index + 1);
    this.#nextId = this.#ids.length + 1;
  }

  get #model(): RigModel {
    return this.#body.model;
  }

  answer(request: HttpRequest): Reply {
    const { method, path, body } = request;
    if (path === "/") return reply(308, "", ["Location: /overview"]);
    const { query, variables } = objectIn(body) ?? {};
    if (method !== "POST" || path !== "/api/graphql" || typeof query !== "string") return reply(404, "");
    const input: unknown = Object(variables).input;
    if (query.includes("login(input: $input)")) return data({ Auth: { login: this.#logIn(input) } });
    if (/^\{ Miner \{\s+online/.test(query)) return data({ Miner: this.#miner() });
    if (!this.#admits(request))
      return json({
        errors: [{ message: "You must be authenticated", extensions: { code: "UNAUTHENTICATED" } }],
        data: null,
      });
    if (query.includes("Settings { read")) return data(this.#owner());
    if (query.includes("donation")) return data({ Pool: { list: { result: { pools: this.#pools(true) } } } });
    const [, section = "", action = ""] = /\{ (\w+) \{ (\w+)/.exec(query) ?? [];
    logWrite(this.#body.requests, `${section}.${action}${input === undefined ? "" : ` ${JSON.stringify(input)}`}`);
    const done = !this.#body.denies() && this.#act(`${section}.${action}`, input);
    return data({ [section]: { [action]: { error: done ? null : { message: "Not possible" } } } });
  }

  #logIn(input: unknown): object {
    if (Object(input).password !== this.#options.password)
      return { result: null, error: { message: "Invalid password" } };
    this.#logins += 1;
    const text = mix(this.#model.seed, 6_000 + this.#logins).toString(36);
    this.#token = { text, until: this.#model.at + this.#options.tokenSeconds * 1000 };
    return { result: { accessToken: text }, error: null };
  }

  #admits({ headers }: HttpRequest): boolean {
    const token = this.#token;
    return token !== null && this.#model.at < token.until && headers.get("authorization") === `Bearer ${token.text}`;
  }

  /** Whether it accepts the action. */
  #act(action: string, input: unknown): boolean {
    if (action === "Miner.start" || action === "Miner.stop") return this.#mine(action === "Miner.start");
    if (action === "Miner.restart" || action === "Mcu.reboot") {
      this.#model.restart(action === "Mcu.reboot" ? this.#body.restartSeconds : 0);
      return this.#mine(true);
    }
    if (action === "Settings.update") {
      const { success, data: settings } = Settings.safeParse(input);
      this.#mode = settings?.minerMode ?? this.#mode;
      return success;
    }
    return this.#changePools(action, input);
  }

  #mine(on: boolean): true {
    this.#model.change((model) => {
      model.mining = on;
      if (on) model.level = model.levelAt(model.hardware.power * levels[this.#mode]);
    });
    return true;
  }

  #changePools(action: string, input: unknown): boolean {
    const { pools } = this.#model;
    if (action === "Pool.create") {
      const { success, data: added } = NewPool.safeParse(input);
      if (!success) return false;
      this.#ids = [...this.#ids, this.#nextId];
      this.#nextId += 1;
      this.#model.setPools([...pools, this.#poolOf({ ...added, index: pools.length })]);
      return true;
    }
    if (action === "Pool.updateAll") {
      const { success, data: whole } = Whole.safeParse(input);
      if (!success) return false;
      this.#ids = whole.pools.map(() => this.#nextId++);
      this.#model.setPools(whole.pools.map((pool) => this.#poolOf(pool)));
      return true;
    }
    const { data: named } = (action === "Pool.delete" ? Id : OldPool).safeParse(input);
    const place = this.#ids.indexOf(named?.id ?? -1);
    const pool = pools[place];
    if (pool === undefined || named === undefined) return false;
    if ("enabled" in named && typeof named.enabled === "boolean") {
      const { enabled } = named;
      this.#model.change(() => {
        pool.enabled = enabled;
      });
    } else {
      this.#ids = this.#ids.filter((_, index) => index !== place);
      this.#model.setPools(pools.filter((each) => each !== pool));
    }
    return true;
  }

  #poolOf(given: z.infer<typeof NewPool> & { readonly index: number }): Pool {
    const { url, username: user, password, enabled, index: priority } = given;
    const fresh = { difficulty: this.#model.pools[0]?.difficulty ?? 1024, alive: true, hashes: 0, lastShareAt: null };
    const known = this.#model.pools.find((pool) => pool.url === url && pool.user === user) ?? fresh;
    const { difficulty, alive, hashes, lastShareAt } = known;
    return { url, user, password, enabled, priority, difficulty, alive, hashes, lastShareAt, quota: 1 };
  }

  #pools(whole: boolean): object[] {
    return this.#model.pools.map(({ url, user: username, password, enabled, priority: index }, place) =>
      whole
        ? { index, donation: null, enabled, url, username, password, proxy: null }
        : { id: this.#ids[place], enabled, url, username, index },
    );
  }

  #owner(): object {
    const { name: hostname, mac } = this.#body;
    const network = [
      { name: "wlan0", mac: "02:51:FF:FF:FF:01" },
      { name: "eth0", mac: mac.toLowerCase() },
    ];
    return {
      Mcu: { stats: { result: { stats: { hostname, network } } } },
      Settings: { read: { result: { settings: { minerMode: this.#mode } } } },
      Pool: { list: { result: { pools: this.#pools(false) } } },
    };
  }

  /** Its figures stay where they were when its program has stopped, as the file does that it leaves behind. */
  #miner(): object {
    const model = this.#model;
    const { activePool } = model;
    const url = new URL((activePool?.url ?? "stratum+tcp://pool.example.com:3333").replace(/^.*:\/\//, "http://"));
    const rates = (seconds: number): string => (model.hashrate(seconds) / 1e9).toFixed(1);
    const { accepted, rejected } = activePool === null ? { accepted: 0, rejected: 0 } : model.sharesOf(activePool);
    const stats = {
      version: "v2",
      versions: { miner: "2.0.2" },
      master: {
        boardsW: model.power,
        intervals: {
          int_30: { bySol: rates(30) },
          int_0: {
            interval: Math.floor(model.elapsed),
            bySol: (model.averageHashrate / 1e9).toFixed(1),
            errors: model.hardwareErrors,
          },
        },
      },
      pool: {
        host: url.hostname,
        port: Number(url.port),
        userName: activePool?.user ?? "",
        intervals: { int_0: { sharesAccepted: accepted, sharesRejected: rejected } },
      },
      fans: { int_0: { rpm: [model.fanRpm] } },
      slots: { int_0: { chips: model.hardware.chips, temperature: temperatureOfBoard(model, 0) } },
    };
    return {
      online: { result: { online: { status: model.mining ? "online" : "offline" } } },
      stats: { result: { stats: [stats] } },
    };
  }
}

const reply = (status: number, body: string, headers: readonly string[] = []): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Other",
    headers: [...headers, "Content-Type: application/json", "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (value: unknown): Reply => reply(200, JSON.stringify(value));
const data = (value: unknown): Reply => json({ data: value });
