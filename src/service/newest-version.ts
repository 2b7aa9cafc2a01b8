import type { Logger } from "pino";
import type { UpdateSettings } from "../config/updates.ts";
import { isRecord } from "../contract/record.ts";
import type { Repeat } from "./repeat.ts";
import { webText } from "./web-text.ts";

const everyMs = 86_400_000;
const limits = { answerMs: 10_000, bytes: 200_000 };

interface NewestVersionOptions {
  readonly settings: UpdateSettings | undefined;
  readonly log: Logger;
  readonly repeat: Repeat;
}

/** Asks for the newest version once a day, if the configuration has an address for that. */
export class NewestVersion {
  /** As last answered; null if unknown. */
  known: string | null = null;
  readonly #options: NewestVersionOptions;
  readonly #closing = new AbortController();
  #asking: Promise<void> = Promise.resolve();
  #stop: () => void = () => undefined;

  constructor(options: NewestVersionOptions) {
    this.#options = options;
  }

  start(): void {
    const { settings, repeat } = this.#options;
    if (settings === undefined) return;
    const ask = (): Promise<void> => {
      this.#asking = this.#ask(settings.url);
      return this.#asking;
    };
    void ask();
    this.#stop = repeat(ask, everyMs);
  }

  /** Resolves once the last request has its answer. */
  settled(): Promise<void> {
    return this.#asking;
  }

  close(): void {
    this.#stop();
    this.#closing.abort();
  }

  async #ask(url: string): Promise<void> {
    try {
      const answer = await webText({ url }, limits, this.#closing.signal);
      this.known = answer.kind === "text" ? versionIn(answer.text) : null;
      if (this.known === null) this.#warn(`${new URL(url).host} answers without a version`);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#warn(error instanceof Error ? error.message : String(error));
    }
  }

  #warn(why: string): void {
    this.#options.log.warn(`The newest version is not known: ${why}`);
  }
}

/** The version in an answer of npm's registry (`version`) or of GitHub's releases (`tag_name`); null if there is none. */
export function versionIn(text: string): string | null {
  try {
    const json: unknown = JSON.parse(text);
    const given = isRecord(json) ? (json.version ?? json.tag_name) : null;
    const [, version] =
      typeof given === "string" ? (/^v?(\d{1,5}(?:\.\d{1,5}){2}(?:-[\w.-]{1,40})?)$/.exec(given) ?? []) : [];
    return version ?? null;
  } catch {
    return null;
  }
}
