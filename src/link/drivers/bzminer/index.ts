import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue } from "../../../contract/readings.ts";
import { type OfferedControl, toggle } from "../../controls.ts";
import type { Driver, PoolControls, Reading, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { stopped } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type ProgramPage, readingOf, readPage, recognisePage } from "../shared/program.ts";
import { redact, redacted } from "../shared/redact.ts";
import { isMining, report } from "./status.ts";

/**
 * BzMiner's HTTP API. Its commands require the password of --http_password where it has one. Source: BzMiner's documents,
 * 24.0.
 */
export const bzminer: Driver = {
  id: "bzminer",
  name: "BzMiner",
  evidence: { readings: "vendor document", controls: "other source" },
  ports: [4014],
  login: { keys: ["password"], adds: "stopped and started" },
  recognise: (signs) => recognisePage(signs, page),
  connect: (link) => new BzminerRig(link),
};

const page: ProgramPage = { path: "/status", isIts: (status) => status.has("bzminer_version"), report };

class BzminerRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #link: Link;
  readonly #offered = new OfferedControls();
  /** It accepted a command to stop. Its status shows that only by cards that do not mine. */
  #wasStopped = false;

  constructor(link: Link) {
    this.#link = link;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const isIts = (status: TolerantReader): boolean => page.isIts(status) || isPasswordMistake(status.text("result"));
    const path = this.#path(page.path, {});
    const read = await this.#hidden(readPage(this.#link, { ...page, path, isIts }, signal));
    if (!page.isIts(read.page)) throw this.#loginMistake();
    const mines = isMining(read.page);
    if (mines) this.#wasStopped = false;
    // Cards that do not mine may still be starting, so only a stop that was sent means that it is stopped.
    const mining = mines ? true : this.#wasStopped ? false : null;
    const reading = readingOf(read.report, read.notes);
    return {
      ...reading,
      readings: { ...reading.readings, mining },
      controls: this.#offered.offer([this.#switch(mining)]),
      ...(this.#wasStopped ? { halt: stopped } : {}),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#wasStopped = false;
  }

  close(): void {
    this.#link.http.close();
  }

  #switch(mining: boolean | null): OfferedControl {
    const control = toggle("mining", mining, { lasting: false, restartsMining: false, seconds: 30 });
    return { control, set: (on, signal) => this.#command(on === true ? "start" : "stop", signal) };
  }

  async #command(command: "start" | "stop", signal: AbortSignal): Promise<string> {
    const { http } = this.#link;
    const call = { method: "GET", path: this.#path("/rig_command", { command }) } as const;
    const { body } = await this.#hidden(http.send(call, signal));
    const said = redact(resultIn(body), [this.#link.credentials.password]);
    if (isPasswordMistake(said)) throw this.#loginMistake();
    if (/error|fail|unknown|invalid/i.test(said)) {
      throw refusedWith("rig.refused", `${http.at} refused "${command}"`, said);
    }
    this.#wasStopped = command === "stop";
    return said === "" ? "BzMiner accepted" : said;
  }

  #loginMistake(): RigbridgeError {
    const given = this.#link.credentials.password !== undefined;
    const advice = given ? "rejects this password" : "requires its password (--http_password), and none is configured";
    return new RigbridgeError("rig.login", `BzMiner at ${this.#link.http.at} ${advice}`);
  }

  #path(path: string, asked: Readonly<Record<string, string>>): string {
    const { password } = this.#link.credentials;
    const query = new URLSearchParams({ ...asked, ...(password === undefined ? {} : { password }) });
    return query.size === 0 ? path : `${path}?${query}`;
  }

  /** A refusal may quote the request, password included. */
  async #hidden<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw redacted(error, [this.#link.credentials.password]);
    }
  }
}

/** Its answer to a command: `{"result": "..."}`. */
function resultIn(body: string): string {
  const parsed = parseReply(body);
  const result = "value" in parsed ? new TolerantReader(parsed.value, new Notes(), "").text("result") : null;
  return result ?? words(body);
}

const isPasswordMistake = (said: string | null): boolean => /password/i.test(said ?? "");
