import { z } from "zod";
import { type Answered, type Kind, kinds, namedRow, type Send } from "./written.ts";

interface Item {
  name: string;
  /** What was asked for last without an answer: another name, or null for its removal. */
  asked?: string | null;
}

/** What is known of one kind of things. */
interface Page {
  readonly kind: Kind;
  readonly items: Map<number, Item>;
  /** Every id ever answered. */
  readonly given: Set<number>;
  /** Names of new ones that were asked for without an answer. */
  readonly adding: Set<string>;
}

/**
 * Writes over HTTP without pause, several at a time, and keeps book of what was acknowledged: `check` then says what a
 * service that was started again does not know, or knows though it refused it.
 */
export class Ledger {
  acknowledged = 0;
  refused = 0;
  readonly wrong: string[] = [];
  readonly #pages: readonly Page[] = kinds.map((kind) => ({
    kind,
    items: new Map(),
    given: new Set(),
    adding: new Set(),
  }));
  readonly #notifications = new Map<number, "there" | "acknowledged" | "gone" | "asked">();
  readonly #commands = new Map<number, string>();
  readonly #jobs = new Map<number, number>();
  /** What each coin's profit may be; undefined where it may not be there at all. */
  readonly #profits = new Map<string, Set<number | undefined>>();
  readonly #rigs: readonly number[];
  #count = 0;

  /** `rigs`: miners that can be told something; `notifications`: ids that are there. */
  constructor(rigs: readonly number[], notifications: readonly number[]) {
    this.#rigs = rigs;
    for (const id of notifications) this.#notifications.set(id, "there");
  }

  /** One writer; ends when the connection breaks. `acknowledged` is called after each answer. */
  async write(send: Send, acknowledged: () => void): Promise<void> {
    for (;;) {
      const page = this.#pages[Math.floor(Math.random() * this.#pages.length)];
      const other = Math.random();
      const answered =
        other < 0.1
          ? await this.#notice(send)
          : other < 0.15
            ? await this.#profit(send)
            : other < 0.18
              ? await this.#command(send)
              : other < 0.19
                ? await this.#job(send)
                : page === undefined || (await this.#row(page, send));
      if (!answered) return;
      acknowledged();
    }
  }

  /** Compares with what is there now, and takes over what was open. */
  async check(send: Send, profits: ReadonlyMap<string, number>): Promise<void> {
    for (const page of this.#pages) await this.#checkPage(page, send);
    await this.#checkNotices(send);
    await this.#checkCommands(send);
    for (const [id, total] of this.#jobs) {
      const answer = await send("GET", `/api/actions/${id}`);
      const job = z.object({ total: z.number() }).safeParse(answer?.body).data;
      if (job?.total !== total) this.wrong.push(`bulk action ${id} of ${total} miners is ${JSON.stringify(job)}`);
    }
    for (const [coin, possible] of this.#profits) {
      const profit = profits.get(coin);
      if (!possible.has(profit)) this.wrong.push(`coin ${coin} has the profit ${profit}`);
      else this.#profits.set(coin, new Set([profit]));
    }
  }

  /** True when it was answered. */
  #row(page: Page, send: Send): Promise<boolean> {
    const turn = Math.random();
    if (turn < 0.1) return this.#mistake(page, send);
    const free = [...page.items].filter(([, item]) => item.asked === undefined);
    const [id, item] = free[Math.floor(Math.random() * free.length)] ?? [];
    if (turn < 0.55 || id === undefined || item === undefined) return this.#add(page, send);
    return turn < 0.8 ? this.#rename(page.kind, id, item, send) : this.#remove(page, id, item, send);
  }

  #newName({ field }: Kind): { number: number; name: string } {
    this.#count += 1;
    return { number: this.#count, name: `${field} ${this.#count}` };
  }

  async #add({ kind, items, given, adding }: Page, send: Send): Promise<boolean> {
    const { number, name } = this.#newName(kind);
    adding.add(name);
    const answer = await send("POST", kind.path, { [kind.field]: name, ...kind.more?.(number) });
    if (answer === null) return false;
    adding.delete(name);
    if (!this.#done(answer, `adding to ${kind.path}`)) return true;
    const { id } = namedRow(kind.field).parse(answer.body);
    if (given.has(id)) this.wrong.push(`${kind.path} gave the id ${id} twice`);
    given.add(id);
    items.set(id, { name });
    return true;
  }

  async #rename(kind: Kind, id: number, item: Item, send: Send): Promise<boolean> {
    const { name } = this.#newName(kind);
    item.asked = name;
    const path = kind.changes === "PATCH" ? `${kind.path}/${id}` : kind.path;
    const answer = await send(kind.changes, path, { [kind.field]: name, ...(kind.changes === "POST" ? { id } : {}) });
    if (answer === null) return false;
    delete item.asked;
    if (this.#done(answer, `changing ${kind.path} ${id}`)) item.name = name;
    return true;
  }

  async #remove({ kind, items }: Page, id: number, item: Item, send: Send): Promise<boolean> {
    item.asked = null;
    const answer = await send("DELETE", `${kind.path}/${id}`);
    if (answer === null) return false;
    delete item.asked;
    if (this.#done(answer, `removing ${kind.path} ${id}`)) items.delete(id);
    return true;
  }

  /** Its name is in no list of what may be there. */
  async #mistake({ kind }: Page, send: Send): Promise<boolean> {
    const { number, name } = this.#newName(kind);
    const answer = await send("POST", kind.path, { [kind.field]: name, ...kind.more?.(number), ...kind.wrong });
    if (answer === null) return false;
    this.refused += 1;
    if (answer.status < 400) this.wrong.push(`POST ${kind.path} took what is wrong: ${JSON.stringify(answer.body)}`);
    return true;
  }

  async #notice(send: Send): Promise<boolean> {
    const [id] = [...this.#notifications].find(([, state]) => state === "there") ?? [];
    if (id === undefined) return true;
    this.#notifications.set(id, "asked");
    const action = Math.random() < 0.5 ? "ack" : "clear";
    const answer = await send("POST", `/api/notifications/${id}?action=${action}`);
    if (answer === null) return false;
    if (this.#done(answer, `notification ${id}`))
      this.#notifications.set(id, action === "ack" ? "acknowledged" : "gone");
    return true;
  }

  async #profit(send: Send): Promise<boolean> {
    this.#count += 1;
    const coin = `X${this.#count % 7}`;
    const profit = this.#count;
    const possible = this.#profits.get(coin) ?? new Set([undefined]);
    // Two writers may set one coin at once: each of what was under way may have come last.
    this.#profits.set(coin, possible.add(profit));
    const answer = await send("POST", `/api/coins/${coin}?profit=${profit}&algorithm=SHA-256&name=${coin}`);
    if (answer !== null && this.#done(answer, `coin ${coin}`)) possible.delete(undefined);
    return answer !== null;
  }

  async #command(send: Send): Promise<boolean> {
    const rig = this.#rigs[Math.floor(Math.random() * this.#rigs.length)];
    const answer = await send("POST", `/api/miners/${rig}?action=restart`);
    if (answer === null) return false;
    const reply = z.object({ commandId: z.number(), state: z.string() }).safeParse(answer.body).data;
    if (answer.status >= 400 || reply === undefined) return true;
    this.acknowledged += 1;
    if (this.#commands.has(reply.commandId)) this.wrong.push(`the command id ${reply.commandId} was given twice`);
    this.#commands.set(reply.commandId, reply.state);
    return true;
  }

  async #job(send: Send): Promise<boolean> {
    const answer = await send("POST", "/api/actions", { action: "restart", miners: this.#rigs });
    if (answer === null) return false;
    const job = z.object({ id: z.number() }).safeParse(answer.body).data;
    // At most 20 run at once.
    if (answer.status >= 400 || job === undefined) return true;
    this.acknowledged += 1;
    if (this.#jobs.has(job.id)) this.wrong.push(`the bulk action id ${job.id} was given twice`);
    this.#jobs.set(job.id, this.#rigs.length);
    return true;
  }

  #done({ status, body }: NonNullable<Answered>, what: string): boolean {
    if (status < 300) {
      this.acknowledged += 1;
      return true;
    }
    this.wrong.push(`${what} was answered with ${status}: ${JSON.stringify(body)}`);
    return false;
  }

  async #checkPage({ kind, items, given, adding }: Page, send: Send): Promise<void> {
    const answer = await send("GET", kind.path);
    const rows = kind.rows.parse(answer?.body).map((row) => namedRow(kind.field).parse(row));
    const there = new Map(rows.map(({ id, name }) => [id, name]));
    for (const [id, item] of items) {
      const name = there.get(id);
      const possible = item.asked === undefined ? [item.name] : [item.name, item.asked];
      if (!possible.includes(name ?? null)) this.wrong.push(`${kind.path} ${id} is ${name}, not ${item.name}`);
      if (name === undefined) items.delete(id);
      else items.set(id, { name });
    }
    for (const [id, name] of there) {
      if (items.has(id) || this.#isForeign(kind, id)) continue;
      if (!adding.has(name)) this.wrong.push(`${kind.path} ${id} ${name} is there, and should not be`);
      if (given.has(id)) this.wrong.push(`${kind.path} gave the id ${id} twice`);
      given.add(id);
      items.set(id, { name });
    }
    adding.clear();
  }

  #isForeign(kind: Kind, id: number): boolean {
    return kind.path === "/api/miners" && this.#rigs.includes(id);
  }

  async #checkNotices(send: Send): Promise<void> {
    const answer = await send("GET", "/api/notifications");
    const body = z.object({ notificationList: z.array(z.object({ id: z.number(), isAcknowledged: z.boolean() })) });
    const rows = body
      .parse(answer?.body)
      .notificationList.map(({ id, isAcknowledged }) => [id, isAcknowledged] as const);
    const there = new Map(rows);
    for (const [id, state] of this.#notifications) {
      const found = there.get(id);
      const now = found === undefined ? "gone" : found ? "acknowledged" : "there";
      if (state !== "asked" && state !== now) this.wrong.push(`notification ${id} is ${now}, not ${state}`);
      this.#notifications.set(id, now);
    }
  }

  async #checkCommands(send: Send): Promise<void> {
    const body = z.object({ commandList: z.array(z.object({ id: z.number(), state: z.string() })) });
    const answer = await send("GET", "/api/commands");
    const rows = body.parse(answer?.body).commandList;
    const there = new Map(rows.map(({ id, state }) => [id, state]));
    const oldest = rows.at(-1)?.id ?? 0;
    for (const [id, state] of this.#commands)
      if (id >= oldest && there.get(id) !== state && state === "done")
        this.wrong.push(`command ${id} is ${there.get(id)}, not ${state}`);
  }
}
