import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { MinerStatus } from "../../contract/resources.ts";
import type { Encoded } from "../../contract/service.ts";
import { type Access, mayAct } from "../users/access.ts";
import { fieldsOfJson } from "./json-fields.ts";
import type { PresentedMiner } from "./present-miner.ts";

interface CachedMiner {
  /** `,{...}`: the comma in front lets a list be made of these as they are. For who may act. */
  readonly bytes: Buffer;
  /** The same for who may only look, once somebody has. */
  looking?: Buffer;
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

/** Of all groups those that these eyes see, as the list shows them. */
export type SectionsFor = (sections: readonly GroupSection[], access: Access) => readonly GroupSection[];

/** The list as these eyes see it. */
interface Arrangement {
  /** Text, and ids where their bytes go. */
  readonly parts: readonly (Buffer | number)[];
  /** Tells it from every other; what it shows is then known by the versions of its miners. */
  readonly number: number;
}

/**
 * Every miner's JSON, made once per change and kept as bytes: a list of 10,000 is then a walk over buffers and not
 * 100 ms of stringify.
 */
export class MinerJsonCache {
  readonly #cached = new Map<number, CachedMiner>();
  /** Miners that nobody has asked for yet. */
  readonly #unmade = new Map<number, () => PresentedMiner>();
  /** Tells this run's versions from those of the run before. */
  readonly #run = Math.floor(Math.random() * 36 ** 8).toString(36);
  #version = 0;
  readonly #shown: SectionsFor;
  #sections: readonly GroupSection[] = [];
  #arrangements = new WeakMap<Access, Arrangement>();
  #arranged = 0;
  /** When last something has changed that every reply depends on. */
  #touched = 0;

  constructor(shown: SectionsFor) {
    this.#shown = shown;
  }

  /** Moves with every change that is more than passing time. */
  get version(): number {
    return this.#version;
  }

  /** Of all miners, or of these. */
  *figures(ids?: Iterable<number>): Iterable<PresentedMiner["figures"]> {
    for (const id of [...this.#unmade.keys()]) this.#view(id);
    for (const id of ids ?? this.#cached.keys()) {
      const view = this.#cached.get(id);
      if (view !== undefined) yield view.figures;
    }
  }

  /** `changed` is false when nothing but time has passed. Returns the miner's JSON when it is more than that. */
  put(id: number, { miner, figures }: PresentedMiner, changed: boolean): Buffer | null {
    this.#unmade.delete(id);
    const known = this.#cached.get(id);
    const { energy } = miner.readings;
    const isNew = changed || known === undefined || known.energy !== energy;
    if (isNew) this.#version += 1;
    const version = isNew ? this.#version : known.version;
    const bytes = Buffer.from(`,${JSON.stringify(miner)}`);
    this.#cached.set(id, { bytes, version, energy, figures });
    return isNew ? bytes.subarray(1) : null;
  }

  /** Makes it when it is first asked for: all at once would keep a large farm waiting at the start. */
  putLater(id: number, make: () => PresentedMiner): void {
    this.#unmade.set(id, make);
  }

  remove(id: number): void {
    this.#unmade.delete(id);
    this.#cached.delete(id);
    this.touch();
  }

  /** Which miner stands in which group. */
  arrange(sections: readonly GroupSection[]): void {
    this.#sections = sections;
    this.#arrangements = new WeakMap();
    this.#version += 1;
  }

  /** Something that every reply depends on has changed. */
  touch(): void {
    this.#version += 1;
    this.#touched = this.#version;
  }

  #view(id: number): CachedMiner | undefined {
    const make = this.#unmade.get(id);
    if (make !== undefined) this.put(id, make(), true);
    return this.#cached.get(id);
  }

  #etag(version: number, list = ""): string {
    return `W/"${this.#run}-${version.toString(36)}${list}"`;
  }

  /** One miner with what only a single read has, as JSON text without braces. */
  one(id: number, rest: (figures: PresentedMiner["figures"]) => string, access: Access): Encoded | undefined {
    const view = this.#view(id);
    if (view === undefined) return undefined;
    const chunks = [bytesFor(view, access).subarray(1, -1), Buffer.from(`,${rest(view.figures)}}`)];
    return { etag: this.#etag(view.version, mayAct(access) ? "" : "-look"), length: lengthOf(chunks), chunks };
  }

  /**
   * The list for these eyes; `head` stands before `groupList`, `tail` behind it, both JSON text without braces. Its
   * etag is of these eyes alone, and moves with what they see.
   */
  list(head: string, tail: string, access: Access): Encoded {
    const { parts, number } = this.#arrangementFor(access);
    const { chunks, newest } = this.#filled(head, tail, parts, (view) => bytesFor(view, access));
    return { etag: this.#etag(newest, `-${number.toString(36)}`), length: lengthOf(chunks), chunks };
  }

  /** A list of some miners, or of some of their fields. Any change may bring a miner into it, and moves its etag. */
  part(head: string, tail: string, sections: readonly GroupSection[], { fields, access }: PartOptions): Encoded {
    const wanted = fields && new Set(["id", ...fields]);
    const cut = (view: CachedMiner): Buffer => {
      const bytes = bytesFor(view, access);
      return wanted === undefined ? bytes : Buffer.concat([opening, fieldsOfJson(bytes.subarray(1), wanted), closing]);
    };
    const { chunks } = this.#filled(head, tail, partsOf(sections), cut);
    const { number } = this.#arrangementFor(access);
    return { etag: this.#etag(this.#version, `-${number.toString(36)}-part`), length: lengthOf(chunks), chunks };
  }

  /** The status of one miner as it is shown. */
  statusOf(id: number): MinerStatus | undefined {
    return this.#view(id)?.figures.status;
  }

  /** The list with its miners in their places, and the newest version that it shows; `cut` makes each miner's bytes. */
  #filled(head: string, tail: string, parts: Arrangement["parts"], cut: (view: CachedMiner) => Buffer) {
    const chunks: Buffer[] = [Buffer.from(`{${head},"groupList":[`)];
    let first = true;
    let newest = this.#touched;
    for (const part of parts) {
      if (typeof part !== "number") {
        chunks.push(part);
        first = part.at(-1) === openBracket;
        continue;
      }
      const view = this.#view(part);
      if (view === undefined) continue;
      const bytes = cut(view);
      chunks.push(first ? bytes.subarray(1) : bytes);
      first = false;
      if (view.version > newest) newest = view.version;
    }
    chunks.push(Buffer.from(`],${tail}}`));
    return { chunks, newest };
  }

  #arrangementFor(access: Access): Arrangement {
    let known = this.#arrangements.get(access);
    if (known === undefined) {
      this.#arranged += 1;
      known = { parts: partsOf(this.#shown(this.#sections, access)), number: this.#arranged };
      this.#arrangements.set(access, known);
    }
    return known;
  }
}

interface PartOptions {
  /** All of them where none are named. */
  readonly fields: readonly string[] | undefined;
  readonly access: Access;
}

/** A miner's bytes in one of their two forms. */
function bytesFor(view: CachedMiner, access: Access): Buffer {
  if (mayAct(access)) return view.bytes;
  view.looking ??= jsonWithoutActions(view.bytes);
  return view.looking;
}

const openBracket = 0x5b;
const opening = Buffer.from(",{");
const closing = Buffer.from("}");

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
