import type { Logger } from "pino";
import { backOffMs, jittered, pause } from "../async/index.ts";
import type { RemoteWriteSettings } from "../config/history.ts";
import type { RemoteWriteStatus } from "../contract/remote-write-status.ts";
import type { MiningService } from "../contract/service.ts";
import { coded } from "../messages/coded.ts";
import type { CodedText } from "../messages/coded-text.ts";
import { textOf } from "../messages/service-texts.ts";
import { send } from "./receiver.ts";
import { Samples } from "./samples.ts";
import { WaitingRequests } from "./waiting-requests.ts";
import { type WriteRequest, WriteRequestBuilder } from "./write-request.ts";

export interface RemoteWriterOptions {
  readonly service: MiningService;
  readonly settings: RemoteWriteSettings;
  /** Where requests wait; null: in memory. */
  readonly folder: string | null;
  readonly log: Logger;
  /** Bytes that may wait. */
  readonly mostWaiting?: number;
  readonly retry?: { readonly firstMs: number; readonly longestMs: number };
}

/** As Prometheus itself sends them. */
const samplesInRequest = 2_000;
const mostOnDisk = 1_000_000_000;
const mostInMemory = 16_000_000;
const usualRetry = { firstMs: 1_000, longestMs: 60_000 };
/** Minutes in which a receiver may take nothing before it is a warning. */
const patienceMinutes = 5;

const title = coded("notices.remoteWrite.title");

/** Sends the samples of /metrics to a database in rounds. What it does not take waits, and is sent in order. */
export class RemoteWriter {
  readonly #options: RemoteWriterOptions;
  readonly #samples: Samples;
  readonly #waiting: WaitingRequests;
  readonly #end = new AbortController();
  #sending: Promise<void> | null = null;
  #rounds: Promise<void> = Promise.resolve();
  #sent = 0;
  #dropped = 0;
  /** Since when the receiver takes nothing, by `performance.now`; null: it does. */
  #failsSince: number | null = null;
  #isWarned = false;

  constructor(options: RemoteWriterOptions) {
    this.#options = options;
    this.#samples = new Samples(options.service, options.settings.labels);
    const most = options.mostWaiting ?? (options.folder === null ? mostInMemory : mostOnDisk);
    this.#waiting = new WaitingRequests({
      folder: options.folder,
      most,
      dropped: (samples, why) => this.#drop(samples, coded(`notices.remoteWrite.${why}`)),
    });
  }

  get status(): RemoteWriteStatus {
    return { sent: this.#sent, dropped: this.#dropped, waiting: this.#waiting.bytes };
  }

  /** Sends what an earlier process left, and then a round at each interval. */
  async start(): Promise<void> {
    await this.open();
    this.#rounds = this.#repeat();
  }

  /** Takes up what an earlier process left, without starting rounds. */
  async open(): Promise<void> {
    await this.#waiting.open();
    this.#wake();
  }

  /** Reads the samples of now; they are sent in the background. */
  async round(): Promise<void> {
    const at = Date.now();
    let builder = new WriteRequestBuilder(at);
    for await (const sample of this.#samples.round()) {
      if (this.#end.signal.aborted) return;
      builder.add(sample);
      if (builder.samples < samplesInRequest) continue;
      await this.#put(builder.finish());
      builder = new WriteRequestBuilder(at);
    }
    if (builder.samples > 0) await this.#put(builder.finish());
  }

  /** Resolves when nothing is being sent: nothing waits, or the receiver takes nothing and it was closed. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  /** What was not sent waits on disk for the next start. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#rounds;
    await this.#sending;
    await this.#waiting.close();
  }

  async #repeat(): Promise<void> {
    const { settings, log } = this.#options;
    const { signal } = this.#end;
    while (!signal.aborted) {
      const began = performance.now();
      await this.round().catch((error: unknown) => log.error({ err: error }, "a round of remote write was lost"));
      await pause(Math.max(1_000, settings.interval * 1000 - (performance.now() - began)), signal);
    }
  }

  async #put(request: WriteRequest): Promise<void> {
    await this.#waiting.add(request);
    this.#wake();
  }

  #wake(): void {
    this.#sending ??= this.#sendAll()
      .catch((error: unknown) => this.#options.log.error({ err: error }, "remote write failed"))
      .finally(() => {
        this.#sending = null;
      });
  }

  /** One at a time: samples of a series must arrive in their order. */
  async #sendAll(): Promise<void> {
    const { settings, retry = usualRetry } = this.#options;
    const { signal } = this.#end;
    for (let failures = 0; !signal.aborted; ) {
      const next = await this.#waiting.first();
      if (next === undefined) return;
      const verdict = await send(settings, next.request, signal);
      if (signal.aborted && verdict.kind === "later") return;
      if (verdict.kind === "later") {
        failures += 1;
        this.#fails(verdict.why);
        if (failures === 1) await this.#waiting.spill();
        await pause(Math.max(verdict.afterMs, jittered(backOffMs(failures, retry))), signal);
        continue;
      }
      failures = 0;
      await next.done();
      if (verdict.kind === "refused")
        this.#drop(next.request.samples, coded("notices.remoteWrite.refused", { why: verdict.why }));
      else this.#took(next.request.samples);
    }
  }

  #took(samples: number): void {
    this.#sent += samples;
    this.#failsSince = null;
    if (!this.#isWarned) return;
    this.#isWarned = false;
    this.#options.log.info("the receiver of remote write takes samples again");
    this.#options.service.setWarning?.(title, null);
  }

  #fails(why: string): void {
    const now = performance.now();
    if (this.#failsSince === null)
      this.#options.log.warn({ why }, "the receiver of remote write takes nothing; samples wait");
    this.#failsSince ??= now;
    const minutes = Math.floor((now - this.#failsSince) / 60_000);
    if (minutes >= patienceMinutes) this.#warn(coded("notices.remoteWrite.waits", { minutes, why }));
  }

  #drop(samples: number, why: CodedText): void {
    this.#dropped += samples;
    this.#options.log.warn({ samples, why: textOf(why, "en") }, "samples of remote write are lost");
    this.#warn(why);
  }

  /** Said once, until samples are taken again. */
  #warn(why: CodedText): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#options.service.setWarning?.(title, why);
  }
}
