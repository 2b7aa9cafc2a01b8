import { RigbridgeError } from "../../../contract/problems.ts";
import type { Link } from "../../link.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { NotOnDevice } from "../../transports/http.ts";
import { Memo } from "./memo.ts";

const usualAgeMs = 300_000;
/** Of a read's time, for these pages; the remaining ones are read next time. */
const share = 0.3;

/** After these the page is not asked again with the next read; after any other error it is. */
const final: ReadonlySet<string> = new Set(["rig.refused", "rig.login", "rig.garbled"]);

/** Pages of a rig that rarely change. They are read after the others, and one that fails does not fail a read. */
export class SeldomPages<Page extends string> {
  readonly #pages: ReadonlyMap<Page, Memo<unknown>>;
  readonly #ask: (page: Page, signal: AbortSignal) => Promise<unknown>;
  readonly #link: Pick<Link, "firmware" | "monotonicNow" | "pace">;

  constructor(
    pages: readonly Page[],
    link: Pick<Link, "firmware" | "monotonicNow" | "pace">,
    ask: (page: Page, signal: AbortSignal) => Promise<unknown>,
    refreshAfterMs = usualAgeMs,
  ) {
    this.#pages = new Map(pages.map((page) => [page, new Memo(refreshAfterMs, link.monotonicNow)]));
    this.#ask = ask;
    this.#link = link;
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { firmware, monotonicNow, pace } = this.#link;
    const until = monotonicNow() + pace.partMs(share);
    for (const [page, memo] of this.#pages) {
      const isDue = !memo.isFresh || memo.at < firmware.doubtedAt;
      if (!isDue || (memo.value === undefined && firmware.has(page) === false)) continue;
      if (monotonicNow() > until) return;
      try {
        memo.keep(await this.#ask(page, signal));
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        if (error instanceof NotOnDevice) firmware.keep(page, false);
        if (final.has(error.code)) memo.keep(memo.value);
      }
    }
  }

  /** The page as last read; undefined before. */
  value(page: Page): unknown {
    return this.#pages.get(page)?.value;
  }

  /** The same as an object, without fields before it was read. */
  page(page: Page, notes: Notes): TolerantReader {
    return new TolerantReader(this.value(page), notes, page);
  }

  forget(): void {
    for (const memo of this.#pages.values()) memo.forget();
  }
}
