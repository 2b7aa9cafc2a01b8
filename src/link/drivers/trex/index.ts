import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue } from "../../../contract/readings.ts";
import { detail } from "../../../messages/detail.ts";
import { type OfferedControl, toggle } from "../../controls.ts";
import type { Driver, Locked, PoolControls, Reading, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { refusedWith } from "../../transports/limits.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type ProgramPage, readingOf, readPage, recognisePage } from "../shared/program.ts";
import { redact, redacted } from "../shared/redact.ts";
import { cardNumber, isNamed, summaryReport } from "./summary.ts";

/**
 * T-Rex's HTTP API. Controls require the password from which --api-generate-key derived the key of --api-key; without a key
 * it is read only. Source: T-Rex's API documents, 0.26. `shutdown` is never sent, since the API has no command to start it
 * again.
 */
export const trex: Driver = {
  id: "trex",
  name: "T-Rex",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [4067],
  login: { keys: ["password"], adds: "controlled" },
  recognise: (signs) => recognisePage(signs, page),
  connect: (link) => new TrexRig(link),
};

const name = /^t-rex\b/i;

const page: ProgramPage = {
  path: "/summary",
  isIts: (summary) => isNamed(summary, name),
  report: (summary) => summaryReport(summary, { software: "TrexMiner", make: "T-Rex" }),
};

/** Wait before a refused login is tried again. */
const retryAfterMs = 60_000;

class TrexRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #link: Link;
  readonly #offered = new OfferedControls();
  /** Of the login; null without one. */
  #session: string | null = null;
  #loginRefused = false;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(link: Link) {
    this.#link = link;
  }

  /** The password is sent only after the summary, or a refusal, has identified a T-Rex. */
  async read(signal: AbortSignal): Promise<Reading> {
    let read = await this.#summary(signal);
    const isNew = await this.#logIn(signal);
    if (isDenied(read.page) && isNew) read = await this.#summary(signal);
    if (isDenied(read.page)) {
      this.#session = null;
      const at = `T-Rex at ${this.#link.http.at}`;
      throw new RigbridgeError(
        "rig.login",
        detail(this.#loginRefused ? "link.wrongPassword" : "link.noPassword", { at }),
      );
    }
    const locked = this.#locked();
    if (locked !== null) read.notes.add(locked.text);
    return {
      ...readingOf(read.report, read.notes),
      controls: this.#offered.offer(locked === null ? this.#controls(read.page) : []),
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#session = null;
  }

  close(): void {
    this.#link.http.close();
  }

  #summary(signal: AbortSignal) {
    const isIts = (summary: TolerantReader): boolean => page.isIts(summary) || isDenied(summary);
    return this.#hidden(readPage(this.#link, { ...page, path: this.#path(page.path, {}), isIts }, signal));
  }

  /** Whether a session was opened. */
  async #logIn(signal: AbortSignal): Promise<boolean> {
    const { http, credentials, monotonicNow } = this.#link;
    const { password } = credentials;
    if (password === undefined || this.#session !== null || monotonicNow() < this.#retryAt) return false;
    const { value } = await this.#hidden(http.getJson(this.#path("/login", { password }), signal));
    this.#session = new TolerantReader(value, new Notes(), "").text("sid");
    this.#loginRefused = this.#session === null;
    if (this.#loginRefused) this.#retryAt = monotonicNow() + retryAfterMs;
    return !this.#loginRefused;
  }

  #locked(): Locked | null {
    if (this.#session !== null) return null;
    return this.#loginRefused ? { why: "login wrong", text: wrongNote } : { why: "read-only", text: readOnlyNote };
  }

  #controls(summary: TolerantReader): OfferedControl[] {
    const isPaused = summary.boolean("paused");
    const cards = summary.list("gpus", 64).flatMap((gpu): OfferedControl[] => {
      const number = cardNumber(gpu);
      const paused = gpu.boolean("paused");
      if (number === null || paused === null) return [];
      return [
        {
          control: toggle(`board_${number}`, !paused, effect),
          set: (on, signal) => this.#pause(`${on !== true}:${number}`, signal),
        },
      ];
    });
    const control = toggle("mining", isPaused === null ? null : !isPaused, effect);
    return [{ control, set: (on, signal) => this.#pause(`${on !== true}`, signal) }, ...cards];
  }

  async #pause(pause: string, signal: AbortSignal): Promise<string> {
    const { http } = this.#link;
    const { value } = await this.#hidden(http.getJson(this.#path("/control", { pause }), signal));
    const answer = new TolerantReader(value, new Notes(), "");
    if (answer.number("success") === 1) return "T-Rex accepted";
    const words = redact(answer.text("error") ?? "no reason given", [this.#session, this.#link.credentials.password]);
    const refusal = refusedWith("rig.refused", `${http.at} refused pause=${pause}`, words);
    if (!/denied|session|login|sid\b|auth/i.test(words)) throw refusal;
    this.#session = null;
    throw new SessionEnded(refusal);
  }

  /** Requests of a session contain its id. */
  #path(path: string, asked: Readonly<Record<string, string>>): string {
    const query = new URLSearchParams({ ...asked, ...(this.#session === null ? {} : { sid: this.#session }) });
    return query.size === 0 ? path : `${path}?${query}`;
  }

  /** A refusal may quote the request, password included. */
  async #hidden<T>(answer: Promise<T>): Promise<T> {
    const secrets = [this.#session, this.#link.credentials.password];
    try {
      return await answer;
    } catch (error) {
      throw redacted(error, secrets);
    }
  }
}

const isDenied = (answer: TolerantReader): boolean => answer.number("success") === 0 && !page.isIts(answer);

const effect = { lasting: false, restartsMining: false, seconds: 10 } as const;

const readOnlyNote =
  "this T-Rex is read only; to control it, start it with --api-key and set the password from which the key was made";
const wrongNote = "T-Rex rejects this password, so it is read only";
