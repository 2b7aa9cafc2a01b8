import { setImmediate as turn } from "node:timers/promises";
import type { MinerStatus } from "../../contract/resources.ts";
import type { Encoded } from "../../contract/service.ts";
import { walkGroups } from "../nested-groups.ts";
import { type Access, mayAct } from "../users/access.ts";
import { fieldsOfJson } from "./json-fields.ts";
import type { MinerFigures } from "./present-miner.ts";
import { type Form, type ListForm, type MinerSource, ShownMiner } from "./shown-miner.ts";

/** Up to 64 consecutive miners of a group in the list. */
interface Page {
  readonly ids: readonly number[];
  /** Their JSON in both forms, if a list used it since the last read of any of them. */
  bytes: readonly Buffer[] | null;
  viewOnly: readonly Buffer[] | null;
  /** The newest version among them. */
  newest: number;
  /** When a list last contained one of them, by `performance.now`. */
  listedAt: number;
}

const neverListed = Number.NEGATIVE_INFINITY;
const minersOnPage = 64;
/** Miners whose JSON is built without yielding. */
const madeAtOnce = 100;
/** ms of work between two yields. */
const turnMs = 20;
/**
 * For this many ms after a list, each read builds the JSON of its miner, so that the next list is ready. After that,
 * only the first read after a list does so, as there may be no next list.
 */
const listedWithinMs = 10_000;

/** A group in the list. */
export interface GroupSection {
  readonly id: number;
  readonly name: string;
  readonly minerIds: readonly number[];
  readonly groups: readonly GroupSection[];
}

/** The groups that are visible to this access, as the list shows them. */
export type SectionsFor = (sections: readonly GroupSection[], access: Access) => readonly GroupSection[];

/** The list for one access. */
interface Arrangement {
  /** Text, and pages of miners. */
  readonly parts: readonly (Buffer | Page)[];
  /** Unique; with the versions of its miners it identifies the content of the list. */
  readonly number: number;
}

/**
 * Every displayed miner, built on request and at most once per read, with its JSON kept as bytes: a list of 10,000
 * miners is then a walk over 160 pages of buffers instead of 100 ms of stringify, and a read that nobody requests costs
 * nothing. The buffers are not joined: copying a long list makes V8 collect all garbage, which costs more than thirty
 * such walks.
 */
export class MinerJsonCache {
  readonly #source: MinerSource;
  readonly #shown = new Map<number, ShownMiner>();
  readonly #pageOf = new Map<number, Page>();
  /** By group. */
  #pages = new Map<number, readonly Page[]>();
  /** Distinguishes the versions of this run from those of earlier runs. */
  readonly #run = Math.floor(Math.random() * 36 ** 8).toString(36);
  #version = 0;
  readonly #sectionsFor: SectionsFor;
  #sections: readonly GroupSection[] = [];
  #arrangements = new WeakMap<Access, Arrangement>();
  #arranged = 0;
  /** The version of the last change that affects every reply. */
  #touched = 0;

  constructor(source: MinerSource, sectionsFor: SectionsFor) {
    this.#source = source;
    this.#sectionsFor = sectionsFor;
  }

  /** Increases with every change other than passing time. */
  get version(): number {
    return this.#version;
  }

  /** The figures of all miners, or of these. */
  *figures(ids: Iterable<number> = this.#shown.keys()): Iterable<MinerFigures> {
    for (const id of ids) {
      const shown = this.#shown.get(id);
      if (shown !== undefined) yield shown.figures;
    }
  }

  /** The miner as of now, built when its object or JSON is read. */
  current(id: number): ShownMiner | undefined {
    return this.#shown.get(id);
  }

  /**
   * Marks a miner to be rebuilt on request. `changed` is false if only time has passed. Returns whether anything else
   * has changed.
   */
  mark(id: number, energy: number | null, changed: boolean): boolean {
    const before = this.#shown.get(id);
    const isNew = changed || before === undefined || before.energy !== energy;
    if (isNew) this.#version += 1;
    const version = isNew ? this.#version : before.version;
    const figures = changed ? null : (before?.knownFigures ?? null);
    const now = performance.now();
    const shown = new ShownMiner(id, { version, energy, figures, since: now }, this.#source);
    this.#shown.set(id, shown);
    const page = this.#pageOf.get(id);
    if (page !== undefined) {
      disturb(page);
      const wasListed = before !== undefined && page.listedAt >= before.since;
      if (wasListed || now - page.listedAt < listedWithinMs) void shown.bytes;
    }
    return isNew;
  }

  remove(id: number): void {
    this.#shown.delete(id);
    const page = this.#pageOf.get(id);
    if (page !== undefined) disturb(page);
    this.touch();
  }

  /** Sets the groups and their miners. */
  arrange(sections: readonly GroupSection[]): void {
    this.#sections = sections;
    this.#pageOf.clear();
    this.#pages = new Map(Array.from(walkGroups(sections), ({ group }) => [group.id, this.#pagesOf(group.minerIds)]));
    this.#arrangements = new WeakMap();
    this.#version += 1;
  }

  /** Marks a change that affects every reply. */
  touch(): void {
    this.#version += 1;
    this.#touched = this.#version;
  }

  #pagesOf(minerIds: readonly number[]): Page[] {
    const pages: Page[] = [];
    for (let start = 0; start < minerIds.length; start += minersOnPage) {
      const ids = minerIds.slice(start, start + minersOnPage);
      const page: Page = { ids, bytes: null, viewOnly: null, newest: 0, listedAt: neverListed };
      pages.push(page);
      for (const id of ids) this.#pageOf.set(id, page);
    }
    return pages;
  }

  #etag(version: number, list = ""): string {
    return `W/"${this.#run}-${version.toString(36)}${list}"`;
  }

  /** One miner as JSON text without braces, with the fields that only a single read has. */
  one(id: number, rest: (figures: MinerFigures) => string, access: Access): Encoded | undefined {
    const shown = this.#shown.get(id);
    if (shown === undefined) return undefined;
    const chunks = [shown[formFor(access)].subarray(1, -1), Buffer.from(`,${rest(shown.figures)}}`)];
    return { etag: this.#etag(shown.version, mayAct(access) ? "" : "-look"), length: lengthOf(chunks), chunks };
  }

  /**
   * The list for this access; `head` goes before `groupList`, `tail` after it, both JSON text without braces. The etag
   * is valid for this access only, and changes with the visible content.
   */
  list(head: string, tail: string, access: Access): Encoded {
    const now = performance.now();
    const { parts, number } = this.#arrangementFor(access);
    let newest = this.#touched;
    const form = formFor(access);
    const chunks = filled(head, tail, parts, (page) => {
      const pieces = this.#piecesOf(page, form);
      page.listedAt = now;
      newest = Math.max(newest, page.newest);
      return pieces;
    });
    return { etag: this.#etag(newest, `-${number.toString(36)}`), length: lengthOf(chunks), chunks };
  }

  /**
   * A list of some miners, or of some of their fields. Any change may add a miner to it, so each change changes its
   * etag.
   */
  part(head: string, tail: string, sections: readonly GroupSection[], { fields, access }: PartOptions): Encoded {
    const wanted = fields && new Set(["id", ...fields]);
    const chunks = filled(
      head,
      tail,
      partsOf(sections, ({ minerIds }) => minerIds),
      (id) => {
        const shown = this.#shown.get(id);
        if (shown === undefined) return [];
        const bytes = shown[formFor(access)];
        if (wanted === undefined) return [bytes];
        return [Buffer.concat([opening, fieldsOfJson(bytes.subarray(1), wanted), closing])];
      },
    );
    const { number } = this.#arrangementFor(access);
    return { etag: this.#etag(this.#version, `-${number.toString(36)}-part`), length: lengthOf(chunks), chunks };
  }

  /** `prepare` for the whole list of this access. */
  prepareList(access: Access): Promise<void> | undefined {
    const ids: number[] = [];
    for (const part of this.#arrangementFor(access).parts)
      if (!Buffer.isBuffer(part) && part[formFor(access)] === null) ids.push(...part.ids);
    return this.prepare(ids, formFor(access));
  }

  /**
   * Builds the objects or bytes for a list of these miners, yielding in between; undefined if the list is small enough
   * to build at once.
   */
  prepare(ids: readonly number[], form: Form): Promise<void> | undefined {
    const now = performance.now();
    const missing = ids.filter((id) => {
      const page = this.#pageOf.get(id);
      if (page !== undefined && form !== "miner") page.listedAt = now;
      return this.#shown.get(id)?.isMade(form) === false;
    });
    return missing.length <= madeAtOnce ? undefined : this.#make(missing, form);
  }

  async #make(ids: readonly number[], form: Form): Promise<void> {
    let began = performance.now();
    for (const id of ids) {
      void this.#shown.get(id)?.[form];
      if (performance.now() - began < turnMs) continue;
      await turn();
      began = performance.now();
    }
  }

  /** The displayed status of one miner. */
  statusOf(id: number): MinerStatus | undefined {
    return this.#shown.get(id)?.figures.status;
  }

  /** The JSON of a page's miners; kept until one of them is read. */
  #piecesOf(page: Page, form: ListForm): readonly Buffer[] {
    const known = page[form];
    if (known !== null) return known;
    // Built first: a miner that cannot be presented is replaced by an error entry.
    for (const id of page.ids) void this.#shown.get(id)?.[form];
    const shown = page.ids.flatMap((id) => this.#shown.get(id) ?? []);
    page.newest = shown.reduce((newest, { version }) => Math.max(newest, version), 0);
    const pieces = shown.map((each) => each[form]);
    page[form] = pieces;
    return pieces;
  }

  #arrangementFor(access: Access): Arrangement {
    let known = this.#arrangements.get(access);
    if (known === undefined) {
      this.#arranged += 1;
      const parts = partsOf(this.#sectionsFor(this.#sections, access), ({ id }) => this.#pages.get(id) ?? []);
      known = { parts, number: this.#arranged };
      this.#arrangements.set(access, known);
    }
    return known;
  }
}

interface PartOptions {
  /** Undefined: all. */
  readonly fields: readonly string[] | undefined;
  readonly access: Access;
}

/** The form of the JSON for this access. */
export const formFor = (access: Access): ListForm => (mayAct(access) ? "bytes" : "viewOnly");

/** One of the page's miners was read. */
function disturb(page: Page): void {
  page.bytes = null;
  page.viewOnly = null;
}

const openBracket = 0x5b;
const opening = Buffer.from(",{");
const closing = Buffer.from("}");

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** The list with the bytes of its miners, each of which begins with a comma. */
function filled<T>(
  head: string,
  tail: string,
  parts: readonly (Buffer | T)[],
  piecesOf: (part: T) => readonly Buffer[],
): Buffer[] {
  const chunks: Buffer[] = [Buffer.from(`{${head},"groupList":[`)];
  let first = true;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      chunks.push(part);
      first = part.at(-1) === openBracket;
      continue;
    }
    for (const bytes of piecesOf(part)) {
      if (bytes.length === 0) continue;
      chunks.push(first ? bytes.subarray(1) : bytes);
      first = false;
    }
  }
  chunks.push(Buffer.from(`],${tail}}`));
  return chunks;
}

/** The list as text, with placeholders for the miners of each group. */
function partsOf<T>(
  sections: readonly GroupSection[],
  minersOf: (section: GroupSection) => readonly T[],
): (Buffer | T)[] {
  const parts: (Buffer | T)[] = [];
  const write = (section: GroupSection, index: number): void => {
    const start = `{"id":${section.id},"name":${JSON.stringify(section.name)},"minerList":[`;
    parts.push(Buffer.from(index === 0 ? start : `,${start}`), ...minersOf(section));
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
