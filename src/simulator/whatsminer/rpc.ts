import { decrypted, encrypted, type RpcSeal, rpcSeal } from "../../link/drivers/whatsminer/crypto.ts";
import { objectIn } from "../json.ts";
import { fraction } from "../random.ts";
import { noHead, type Reply } from "../reply.ts";
import { logWrite } from "../rig.ts";
import { devdetails, devs, messages, pools, summary } from "./reports.ts";
import { acts, canWrite, type Whatsminer } from "./state.ts";

type Json = Record<string, unknown>;

/** ms until a token expires, and the maximum number of tokens. */
const tokenLife = 30 * 60_000;
const mostTokens = 16;

interface Token extends RpcSeal {
  readonly since: number;
}

/** API v1 and v2 on port 4028: open reads, and writes encrypted with a token valid for half an hour. */
export function whatsminerRpc(rig: Whatsminer): (request: string) => Reply | null {
  const tokens = new Tokens(rig);
  return (text) => {
    if (text === "") return null;
    rig.model.advance();
    return lineReply(JSON.stringify(answer(rig, tokens, text)));
  };
}

/** Ends with a line feed and the connection, without NUL. */
const lineReply = (body: string): Reply => ({ head: noHead, body, tail: "\n", times: 1, close: true });

function answer(rig: Whatsminer, tokens: Tokens, text: string): Json {
  const request = objectIn(text);
  if (request === null) return flat(rig, "E", 23, "Invalid JSON");
  if (request.enc === 1) return write(rig, tokens, String(request.data));
  const cmd = String(request.cmd ?? request.command ?? "");
  if (cmd === "get_token") return canWrite(rig) ? tokens.give() : flat(rig, "E", 45, "can't access write cmd");
  if (writes[cmd] !== undefined) return flat(rig, "E", 45, "can't access write cmd");
  return cmd.includes("+") ? joined(rig, cmd.split("+")) : (report(rig, cmd) ?? flat(rig, "E", 14, "invalid cmd"));
}

function report(rig: Whatsminer, cmd: string): Json | null {
  const section = sections[cmd];
  if (section !== undefined) return section(rig);
  const message = rig.generation === "v1" && lacking.has(cmd) ? undefined : messages[cmd];
  return message === undefined ? null : flat(rig, "S", 131, message(rig));
}

/** Commands that firmware of 2021 does not have. */
const lacking = new Set(["get_miner_info", "get_error_code"]);

/** Only answers with sections are joined. */
function joined(rig: Whatsminer, names: readonly string[]): Json {
  const parts = names.map((name) => [name, sections[name]?.(rig)] as const);
  if (parts.some(([, part]) => part === undefined)) return flat(rig, "E", 45, "command join err");
  return { ...Object.fromEntries(parts.map(([name, part]) => [name, [part]])), id: 1 };
}

const when = ({ model }: Whatsminer): number => Math.floor(model.at / 1000);

const flat = (rig: Whatsminer, letter: "S" | "E", code: number, message: unknown): Json => ({
  STATUS: letter,
  When: when(rig),
  Code: code,
  Msg: message,
  Description: "",
});

const listed =
  (name: string, code: number, message: string, records: (rig: Whatsminer) => Json[]) =>
  (rig: Whatsminer): Json => ({
    STATUS: [{ STATUS: "S", When: when(rig), Code: code, Msg: message, Description: "cgminer 4.9.2" }],
    [name]: records(rig),
    id: 1,
  });

const sections: Readonly<Record<string, (rig: Whatsminer) => Json>> = {
  version: listed("VERSION", 22, "CGMiner versions", () => [{ CGMiner: "4.9.2", API: "3.7" }]),
  summary: listed("SUMMARY", 11, "Summary", (rig) => [summary(rig)]),
  pools: listed("POOLS", 7, "Pool(s)", pools),
  devs: listed("DEVS", 9, "ASC(s)", devs),
  edevs: listed("DEVS", 9, "ASC(s)", devs),
  devdetails: listed("DEVDETAILS", 69, "Device Details", devdetails),
};

/** An encrypted write; errors before its decryption are answered unencrypted. */
function write(rig: Whatsminer, tokens: Tokens, data: string): Json {
  if (!canWrite(rig)) {
    logWrite(rig.body.requests, "a write that is not allowed");
    return flat(rig, "E", 45, "can't access write cmd");
  }
  const request = objectIn(decrypted(data, tokens.key) ?? "");
  if (request === null) return flat(rig, "E", 23, "enc json load err");
  const { cmd, token, ...parameters } = request;
  if (!tokens.holds(String(token))) return flat(rig, "E", 135, "check token err");
  logWrite(rig.body.requests, `${cmd} ${JSON.stringify(parameters)}`);
  const act = rig.generation === "v1" && cmd === "set_power_pct" ? undefined : writes[String(cmd)];
  const result = act === undefined ? flat(rig, "E", 14, "invalid cmd") : done(rig, act(rig, parameters));
  return { enc: encrypted(JSON.stringify(result), tokens.key) };
}

const done = (rig: Whatsminer, fine: boolean): Json =>
  fine ? flat(rig, "S", 131, "API command OK") : flat(rig, "E", 132, "API command ERROR");

/** The writes; false if the parameters are invalid. */
const writes: Readonly<Record<string, (rig: Whatsminer, parameters: Json) => boolean>> = {
  power_off: does((rig) => acts.mine(rig, false)),
  power_on: does((rig) => acts.mine(rig, true)),
  restart_btminer: does(acts.restart),
  reboot: does(acts.reboot),
  set_low_power: does((rig) => acts.setMode(rig, "low")),
  set_normal_power: does((rig) => acts.setMode(rig, "normal")),
  set_high_power: does((rig) => acts.setMode(rig, "high")),
  set_led: (rig, { param, color }) => {
    rig.led = param === "auto" ? "auto" : "manual";
    return param === "auto" || typeof color === "string";
  },
  adjust_power_limit: (rig, { power_limit: watts }) => {
    const number = Number(watts);
    const fine = typeof watts === "string" && number >= 0 && number <= 99_999;
    if (fine) acts.limitPower(rig, number);
    return fine;
  },
  set_power_pct: (rig, { percent }) => {
    const number = Number(percent);
    const fine = typeof percent === "string" && number >= 0 && number <= 100;
    if (fine) acts.throttle(rig, number);
    return fine;
  },
  update_pools: (rig, parameters) => {
    const field = (name: string, slot: number): string => String(parameters[`${name}${slot}`] ?? "");
    const slots = [1, 2, 3].map((slot) => ({
      url: field("pool", slot),
      user: field("worker", slot),
      password: field("passwd", slot),
    }));
    const fine = slots.some(({ url }) => url !== "") && slots.every(({ url }) => /^$|^stratum\+\w+:\/\//.test(url));
    if (fine) acts.setPools(rig, slots);
    return fine;
  },
};

function does(act: (rig: Whatsminer) => void): (rig: Whatsminer) => boolean {
  return (rig) => {
    act(rig);
    return true;
  };
}

/** A token allows writing for half an hour. */
class Tokens {
  readonly #rig: Whatsminer;
  readonly #salt: string;
  /** Derived from the password, so the same for all tokens. */
  readonly key: Buffer;
  #live: Token[] = [];
  #given = 0;

  constructor(rig: Whatsminer) {
    this.#rig = rig;
    this.#salt = saltOf(rig.model.seed, 0);
    this.key = rpcSeal(rig.password, { time: "", salt: this.#salt, newsalt: this.#salt }).key;
  }

  give(): Json {
    this.#forget();
    if (this.#live.length >= mostTokens) return flat(this.#rig, "E", 136, "over max connect");
    this.#given += 1;
    const seed = this.#rig.model.seed + this.#given;
    const time = String(Math.floor(fraction(seed, 1) * 10_000)).padStart(4, "0");
    const given = { time, salt: this.#salt, newsalt: saltOf(seed, 2) };
    this.#live.push({ ...rpcSeal(this.#rig.password, given), since: this.#rig.model.at });
    return flat(this.#rig, "S", 134, given);
  }

  holds(sign: string): boolean {
    this.#forget();
    return this.#live.some((token) => token.sign === sign);
  }

  #forget(): void {
    this.#live = this.#live.filter(({ since }) => this.#rig.model.at - since < tokenLife);
  }
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export const saltOf = (seed: number, step: number): string =>
  Array.from({ length: 8 }, (_, index) =>
    letters.charAt(Math.floor(fraction(seed, step * 8 + index) * letters.length)),
  ).join("");
