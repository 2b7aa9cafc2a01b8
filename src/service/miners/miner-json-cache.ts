import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { MinerStatus } from "../../contract/resources.ts";
import type { Encoded } from "../../contract/service.ts";
import { type Access, mayAct } from "../users/access.ts";
import { fieldsOfJson } from "./json-fields.ts";
import type { MinerFigures, PresentedMiner } from "./present-miner.ts";

interface CachedMiner {
  /** `,{...}`: a list joins these as they are. For callers who may act. */
  readonly bytes: Buffer;
  /** The same for callers who may only view, made for the first of them. */
  viewOnly?: Buffer;
  readonly version: number;
  /** Wh as shown: it changes when it is stored, not with every read. */
  readonly energy: number | null;
  readonly figures: MinerFigures;
}

/** A group of the list. */
export interface GroupSection {
  readonly id: number;
  readonly name: string;
  readonly minerIds: readonly number[];
  readonly groups: readonly GroupSection[];
}

/** The groups that this access sees, as the list shows them. */
export type SectionsFor = (sections: readonly GroupSection[], access: Access) => readonly GroupSection[];

/** The list as one access sees it. */
interface Arrangement {
  /** Text, and ids where the miners' bytes go. */
  readonly parts: readonly (Buffer | number)[];
  /** Unique; with the versions of its miners it identifies what the list shows. */
  readonly number: number;
}

/**
 * Every miner's JSON, made once per change and kept as bytes: a list of 10,000 is then a walk over buffers and not
 * 100 ms of stringify. They are made at once also because a miner without JSON must fail alone, and not in a list.
 */
export class MinerJsonCache {
  readonly #cached = new Map<number, CachedMiner>();
  /** Miners that nobody has read yet. */
  readonly #pending = new Map<number, () => PresentedMiner>();
  /** Distinguishes the versions of this run from those of the run before. */
  readonly #run = Math.floor(Math.random() * 36 ** 8).toString(36);
  #version = 0;
  readonly #sectionsFor: SectionsFor;
  #sections: readonly GroupSection[] = [];
  #arrangements = new WeakMap<Access, Arrangement>();
  #arranged = 0;
  /** The version of the last change that concerns every reply. */
  #touched = 0;

  constructor(sectionsFor: SectionsFor) {
    this.#sectionsFor = sectionsFor;
  }

  /** Rises with every change that is more than passing time. */
  get version(): number {
    return this.#version;
  }

  /** Of all miners, or of these. */
  *figures(ids?: Iterable<number>): Iterable<MinerFigures> {
    for (const id of [...this.#pending.keys()]) this.#find(id);
    for (const id of ids ?? this.#cached.keys()) {
      const cached = this.#cached.get(id);
      if (cached !== undefined) yield cached.figures;
    }
  }

  /** `changed` is false when nothing but time has passed. Returns the miner's JSON if more than that has changed. */
  put(id: number, { miner, figures }: PresentedMiner, changed: boolean): Buffer | null {
    this.#pending.delete(id);
    const before = this.#cached.get(id);
    const { energy } = miner.readings;
    const isNew = changed || before === undefined || before.energy !== energy;
    if (isNew) this.#version += 1;
    const version = isNew ? this.#version : before.version;
    const bytes = Buffer.from(`,${JSON.stringify(miner)}`);
    this.#cached.set(id, { bytes, version, energy, figures });
    return isNew ? bytes.subarray(1) : null;
  }

  /** Presents it when it is first read: all at once would delay the start of a large farm. */
  putLater(id: number, make: () => PresentedMiner): void {
    this.#pending.set(id, make);
  }

  remove(id: number): void {
    this.#pending.delete(id);
    this.#cached.delete(id);
    this.touch();
  }

  /** Takes the groups, and the miners in each. */
  arrange(sections: readonly GroupSection[]): void {
    this.#sections = sections;
    this.#arrangements = new WeakMap();
    this.#version += 1;
  }

  /** A change that concerns every reply. */
  touch(): void {
    this.#version += 1;
    this.#touched = this.#version;
  }

  #find(id: number): CachedMiner | undefined {
    const make = this.#pending.get(id);
    if (make !== undefined) this.put(id, make(), true);
    return this.#cached.get(id);
  }

  #etag(version: number, list = ""): string {
    return `W/"${this.#run}-${version.toString(36)}${list}"`;
  }

  /** One miner with what only a single read has, as JSON text without braces. */
  one(id: number, rest: (figures: MinerFigures) => string, access: Access): Encoded | undefined {
    const cached = this.#find(id);
    if (cached === undefined) return undefined;
    const chunks = [bytesFor(cached, access).subarray(1, -1), Buffer.from(`,${rest(cached.figures)}}`)];
    return { etag: this.#etag(cached.version, mayAct(access) ? "" : "-look"), length: lengthOf(chunks), chunks };
  }

  /**
   * The list for this access; `head` goes before `groupList`, `tail` after it, both JSON text without braces. The etag
   * is of this access alone, and changes with what it sees.
   */
  list(head: string, tail: string, access: Access): Encoded {
    const { parts, number } = this.#arrangementFor(access);
    const { chunks, newest } = this.#filled(head, tail, parts, (cached) => bytesFor(cached, access));
    return { etag: this.#etag(newest, `-${number.toString(36)}`), length: lengthOf(chunks), chunks };
  }

  /** A list of some miners, or of some of their fields. Any change may add a miner to it, so each changes its etag. */
  part(head: string, tail: string, sections: readonly GroupSection[], { fields, access }: PartOptions): Encoded {
    const wanted = fields && new Set(["id", ...fields]);
    const cut = (cached: CachedMiner): Buffer => {
      const bytes = bytesFor(cached, access);
      return wanted === undefined ? bytes : Buffer.concat([opening, fieldsOfJson(bytes.subarray(1), wanted), closing]);
    };
    const { chunks } = this.#filled(head, tail, partsOf(sections), cut);
    const { number } = this.#arrangementFor(access);
    return { etag: this.#etag(this.#version, `-${number.toString(36)}-part`), length: lengthOf(chunks), chunks };
  }

  /** The status of one miner as it is shown. */
  statusOf(id: number): MinerStatus | undefined {
    return this.#find(id)?.figures.status;
  }

  /** The list with the bytes of its miners, as `cut` makes them, and the newest version that it shows. */
  #filled(head: string, tail: string, parts: Arrangement["parts"], cut: (cached: CachedMiner) => Buffer) {
    const chunks: Buffer[] = [Buffer.from(`{${head},"groupList":[`)];
    let first = true;
    let newest = this.#touched;
    for (const part of parts) {
      if (typeof part !== "number") {
        chunks.push(part);
        first = part.at(-1) === openBracket;
        continue;
      }
      const cached = this.#find(part);
      if (cached === undefined) continue;
      const bytes = cut(cached);
      chunks.push(first ? bytes.subarray(1) : bytes);
      first = false;
      if (cached.version > newest) newest = cached.version;
    }
    chunks.push(Buffer.from(`],${tail}}`));
    return { chunks, newest };
  }

  #arrangementFor(access: Access): Arrangement {
    let known = this.#arrangements.get(access);
    if (known === undefined) {
      this.#arranged += 1;
      known = { parts: partsOf(this.#sectionsFor(this.#sections, access)), number: this.#arranged };
      this.#arrangements.set(access, known);
    }
    return known;
  }
}

interface PartOptions {
  /** All of them if undefined. */
  readonly fields: readonly string[] | undefined;
  readonly access: Access;
}

/** A miner's bytes in one of their two forms. */
function bytesFor(cached: CachedMiner, access: Access): Buffer {
  if (mayAct(access)) return cached.bytes;
  cached.viewOnly ??= jsonWithoutActions(cached.bytes);
  return cached.viewOnly;
}

const openBracket = 0x5b;
const opening = Buffer.from(",{");
const closing = Buffer.from("}");

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** The list as text, with ids where the bytes of its miners go. */
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
