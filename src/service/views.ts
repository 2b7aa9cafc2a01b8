import type { Encoded } from "../contract/service.ts";
import type { PresentedMiner } from "./present-miner.ts";

interface View {
  /** `,{...}`: the comma in front lets a list be made of these as they are. */
  readonly bytes: Buffer;
  readonly version: number;
  /** Wh as shown: it moves when it is written down, not when the rig is read. */
  readonly energy: number | null;
  readonly figures: PresentedMiner["figures"];
}

/** A group of the list, with what stands around its miners. */
export interface GroupSection {
  readonly id: number;
  readonly name: string;
  readonly minerIds: readonly number[];
  readonly groups: readonly GroupSection[];
}

/**
 * Every miner's JSON, made once per change and kept as bytes: a list of 10,000 is then a walk over buffers and not
 * 100 ms of stringify.
 */
export class Views {
  readonly #views = new Map<number, View>();
  /** Tells this run's versions from those of the run before. */
  readonly #run = Math.floor(Math.random() * 36 ** 8).toString(36);
  #version = 0;
  #sections: readonly GroupSection[] = [];
  #parts: (Buffer | number)[] | undefined;

  /** Moves with every change that is more than passing time. */
  get version(): number {
    return this.#version;
  }

  *figures(): Iterable<PresentedMiner["figures"]> {
    for (const { figures } of this.#views.values()) yield figures;
  }

  /** `changed` is false when nothing but time has passed. Returns the miner's JSON when it is more than that. */
  put(id: number, { miner, figures }: PresentedMiner, changed: boolean): Buffer | null {
    const known = this.#views.get(id);
    const { energy } = miner.readings;
    const isNew = changed || known === undefined || known.energy !== energy;
    if (isNew) this.#version += 1;
    const version = isNew ? this.#version : known.version;
    const bytes = Buffer.from(`,${JSON.stringify(miner)}`);
    this.#views.set(id, { bytes, version, energy, figures });
    return isNew ? bytes.subarray(1) : null;
  }

  remove(id: number): void {
    this.#views.delete(id);
    this.#version += 1;
  }

  /** Which miner stands in which group. */
  arrange(sections: readonly GroupSection[]): void {
    this.#sections = sections;
    this.#parts = undefined;
    this.#version += 1;
  }

  /** Something that every reply depends on has changed. */
  touch(): void {
    this.#version += 1;
  }

  etag(version: number): string {
    return `W/"${this.#run}-${version.toString(36)}"`;
  }

  /** One miner with what only a single read has, as JSON text without braces. */
  one(id: number, rest: string): Encoded | undefined {
    const view = this.#views.get(id);
    if (view === undefined) return undefined;
    const chunks = [view.bytes.subarray(1, -1), Buffer.from(`,${rest}}`)];
    return { etag: this.etag(view.version), length: lengthOf(chunks), chunks };
  }

  /** The list; `head` stands before `groupList`, `tail` behind it, both JSON text without braces. */
  list(head: string, tail: string): Encoded {
    this.#parts ??= partsOf(this.#sections);
    const chunks: Buffer[] = [Buffer.from(`{${head},"groupList":[`)];
    let first = true;
    for (const part of this.#parts) {
      if (typeof part !== "number") {
        chunks.push(part);
        first = part.at(-1) === openBracket;
        continue;
      }
      const bytes = this.#views.get(part)?.bytes;
      if (bytes === undefined) continue;
      chunks.push(first ? bytes.subarray(1) : bytes);
      first = false;
    }
    chunks.push(Buffer.from(`],${tail}}`));
    return { etag: this.etag(this.#version), length: lengthOf(chunks), chunks };
  }
}

const openBracket = 0x5b;

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** The list with places for its miners: text, and ids where their bytes go. */
function partsOf(sections: readonly GroupSection[]): (Buffer | number)[] {
  const parts: (Buffer | number)[] = [];
  const write = (section: GroupSection, index: number): void => {
    const start = `{"id":${section.id},"name":${JSON.stringify(section.name)},"minerList":[`;
    parts.push(Buffer.from(index === 0 ? start : `,${start}`), ...section.minerIds);
    if (section.groups.length === 0) parts.push(Buffer.from("]}"));
    else {
      parts.push(Buffer.from(`],"groupList":[`));
      section.groups.forEach(write);
      parts.push(Buffer.from("]}"));
    }
  };
  sections.forEach(write);
  return parts;
}
