import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { type OfferedControl, toggle, trigger } from "../../controls.ts";
import type { Driver, PoolAction, PoolControls, PoolReading, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import { type LineTransport, lineRequest } from "../../transports/lines.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { acceptedLine, lineReplyOf, mayAnswerLines, passwordOf } from "../shared/line-replies.ts";
import { lastPool, listedPool } from "../shared/listed-pool.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { readingOf } from "../shared/program.ts";
import { redacted } from "../shared/redact.ts";
import { type EthminerReport, poolsOf, programOf, reportOf } from "./report.ts";

/**
 * ethminer's own API over TCP, which its forks have too: Claymore's with more statistics, pools and cards that can be
 * paused. Source: ethminer's API documentation, 0.19. Its `miner_reboot`, which runs a script, is never sent.
 */
export const ethminer: Driver = {
  id: "ethminer",
  name: "ethminer (kawpowminer and other forks)",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [3333],
  login: { keys: ["password"], adds: "if it asks for one" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new EthminerRig(link),
};

const basic = "miner_getstat1";
const detailed = "miner_getstatdetail";
const connections = "miner_getconnections";
const pauseCard = "miner_pausegpu";

/** Its answer in Claymore's API shows whether it has its own statistics. */
function recognise(signs: Signs): Partial<Identity> | Question | undefined {
  if (!mayAnswerLines(signs)) return undefined;
  const { lines = {} } = signs;
  if (!Object.hasOwn(lines, basic)) return { line: basic };
  const { result, error } = lineReplyOf(lines[basic]) ?? {};
  if (error?.code === needsLogin) return { make: "ethminer" };
  if (!Array.isArray(result) || !/^[a-z]*miner[- ]/i.test(String(result[0]))) return undefined;
  if (!Object.hasOwn(lines, detailed)) return { line: detailed };
  const detail = lineReplyOf(lines[detailed])?.result;
  if (!isRecord(detail) || !isRecord(detail.host)) return undefined;
  const host = new TolerantReader(detail.host, new Notes(), "");
  return { make: programOf(host.text("version")).make, hostname: host.text("name") };
}

/** Codes of errors. */
const needsLogin = -403;
const wrongLogin = -401;
const missing = -32_601;

/** Set by a start option (a negative port), so it rarely changes. */
const rightsMaxAgeMs = 600_000;

const poolActions: readonly PoolAction[] = ["add", "switch", "remove"];

class EthminerRig implements Rig {
  readonly quick = true;
  readonly #lines: LineTransport;
  readonly #password: string | undefined;
  readonly #mayWrite: Memo<boolean>;
  readonly #offered = new OfferedControls();
  /** Whether it has requested a login: only then is the password sent. */
  #needsLogin = false;

  constructor({ lines, credentials, monotonicNow }: Pick<Link, "lines" | "credentials" | "monotonicNow">) {
    this.#lines = lines;
    this.#password = passwordOf(credentials);
    this.#mayWrite = new Memo(rightsMaxAgeMs, monotonicNow);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const probe = this.#mayWrite.isFresh ? [] : [lineRequest(pauseCard)];
    const replies = await this.#ask([lineRequest(detailed), lineRequest(connections), ...probe], signal);
    const [statistics, listed, rights] = replies;
    const result = acceptedLine(this.#lines.at, detailed, statistics?.value);
    if (!isRecord(result)) throw garbled(this.#lines.at, `answered "${detailed}" without statistics`);
    for (const reply of replies) notes.addAll(reply.notes);
    if (rights !== undefined) this.#mayWrite.keep(allowsWrites(rights.value));
    const detail = new TolerantReader(result, notes, "");
    const [accepted = null, rejected = null] = detail.object("mining").numbers("shares");
    const pools = poolsOf(new TolerantReader(listed?.value, notes, "pools"), accepted, rejected);
    const report = reportOf(detail, pools);
    const mayWrite = this.#mayWrite.value === true;
    if (!mayWrite) notes.add(readOnlyNote);
    const reading = readingOf(report, notes);
    return {
      ...reading,
      controls: this.#offered.offer(mayWrite ? this.#offers(report) : []),
      poolActions: mayWrite ? poolActions : [],
      ...(mayWrite ? {} : { locked: { why: "read-only", text: readOnlyNote } }),
      software: report.software === "" ? null : report.software,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  get pools(): PoolControls {
    const onPool =
      (method: string) =>
      async (pool: PoolReading, signal: AbortSignal): Promise<string> => {
        const { index } = listedPool(await this.#freshPools(signal), pool);
        return this.#do(method, [{ index }], signal);
      };
    return {
      add: async (login, signal) => {
        const { scheme, host, port } = checkLogin(login);
        const parts = [login.worker, login.password]
          .filter((part) => part !== "")
          .map((part) => encodeURIComponent(part.toWellFormed()));
        const uri = `${scheme}://${parts.join(":")}@${host}:${port}`;
        try {
          return await this.#do("miner_addconnection", [{ uri }], signal);
        } catch (error) {
          throw redacted(error, [uri, encodeURIComponent(login.password.toWellFormed()), login.password]);
        }
      },
      switch: onPool("miner_setactiveconnection"),
      remove: async (pool, signal) => {
        const pools = await this.#freshPools(signal);
        const { index } = listedPool(pools, pool);
        if (pools.length < 2) throw lastPool();
        return this.#do("miner_removeconnection", [{ index }], signal);
      },
    };
  }

  close(): void {
    this.#lines.close();
  }

  #offers({ cards }: EthminerReport): OfferedControl[] {
    const effect = { lasting: false, restartsMining: false, seconds: 5 };
    const pause = (some: EthminerReport["cards"]) => (on: ControlValue, signal: AbortSignal) =>
      this.#do(
        pauseCard,
        some.map(({ number }) => ({ index: number, pause: on !== true })),
        signal,
      );
    const switches = cards.filter(({ number }) => number <= 99);
    // The cards restart, but the process and its uptime continue. No read shows the restart, so the answer confirms it.
    const restart: OfferedControl = {
      control: trigger("restart", { lasting: false, restartsMining: false, seconds: 30 }),
      set: (_, signal) => this.#do("miner_restart", [undefined], signal),
    };
    if (switches.length === 0) return [restart];
    const isMining = !cards.every(({ isPaused }) => isPaused);
    return [
      { control: toggle("mining", isMining, effect), set: pause(cards) },
      restart,
      ...switches.map((card) => ({
        control: toggle(`board_${card.number}`, !card.isPaused, effect),
        set: pause([card]),
      })),
    ];
  }

  /** Pools move up when one is removed, so the list is read before each change. */
  async #freshPools(signal: AbortSignal): Promise<PoolReading[]> {
    const [reply] = await this.#ask([lineRequest(connections)], signal);
    acceptedLine(this.#lines.at, connections, reply?.value);
    return poolsOf(new TolerantReader(reply?.value, new Notes(), ""), null, null);
  }

  /** One request for each of the parameters. */
  async #do(method: string, each: readonly (object | undefined)[], signal: AbortSignal): Promise<string> {
    const requests = each.map((params) => lineRequest(method, params === undefined ? {} : { params }));
    try {
      for (const { value } of await this.#ask(requests, signal)) {
        if (acceptedLine(this.#lines.at, method, value) === false) {
          throw new RigbridgeError("rig.refused", `${this.#lines.at} refused "${method}"`);
        }
      }
    } catch (error) {
      // It may have been started again with other options.
      if (error instanceof RigbridgeError && error.code === "rig.refused") this.#mayWrite.forget();
      throw error;
    }
    return "The program accepted";
  }

  /** All requests over one connection, after a login if the program requires one. */
  async #ask(requests: readonly object[], signal: AbortSignal): Promise<DeviceReply[]> {
    const open = this.#needsLogin ? [] : await this.#lines.ask(requests, signal);
    if (!this.#needsLogin && errorCodeOf(open[0]) !== needsLogin) return open;
    this.#needsLogin = true;
    const { at } = this.#lines;
    if (this.#password === undefined) {
      throw new RigbridgeError("rig.login", `${at} requires the password of its API, and none is configured`);
    }
    const authorize = lineRequest("api_authorize", { params: { psw: this.#password } });
    const [granted, ...replies] = await this.#lines.ask([authorize, ...requests], signal);
    const isWrong = errorCodeOf(granted) === wrongLogin || errorCodeOf(replies[0]) === needsLogin;
    // It may have been restarted without a password; it then rejects any login.
    if (isWrong) this.#needsLogin = false;
    if (isWrong) throw new RigbridgeError("rig.login", `${at} rejects this password of its API`);
    return replies;
  }
}

const errorCodeOf = (reply: DeviceReply | undefined): number | null => lineReplyOf(reply?.value)?.error?.code ?? null;

/** A read-only program does not have the method; others reject the missing parameters. */
const allowsWrites = (answer: unknown): boolean => {
  const code = lineReplyOf(answer)?.error?.code;
  return code !== undefined && code !== null && code !== missing && code !== needsLogin;
};

const readOnlyNote =
  "this program is read only; to control it, start it with a positive port in its --api-bind or --api-port";
