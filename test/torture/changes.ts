import { z } from "zod";
import { wait } from "./measure.ts";
import type { Ask, ServiceProcess } from "./process.ts";

/** What a person changes all day, with what it must look like afterwards. As much goes as comes. */
export class Changes {
  made = 0;
  /** Each as a sentence. */
  readonly wrong: string[] = [];
  readonly #service: ServiceProcess;
  /** Names of groups that should be there, and of miners that were given one. */
  readonly #groups = new Map<number, string>();
  readonly #miners = new Map<number, string>();

  constructor(service: ServiceProcess) {
    this.#service = service;
  }

  /** One after the other until the signal, about so many a second. `rigs`: ids of miners that answer. */
  async make(rigs: readonly number[], perSecond: number, signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const rig = rigs[turn % rigs.length] ?? 0;
      await this.#rename(rig, `rig ${turn % 7}`);
      if (turn % 10 === 0) await this.#restart(rig);
      // With every change of the groups all listeners read the list anew.
      if (turn % 100 === 0) await this.#group(turn);
      await wait(1_000 / perSecond);
    }
  }

  /** What is not as it was acknowledged to be goes to `wrong`. */
  async check(): Promise<void> {
    const { text } = await this.#service.ask("GET", "/api/groups");
    const groups = z.array(z.object({ id: z.number(), name: z.string() })).parse(JSON.parse(text));
    const there = new Map(groups.filter(({ id }) => id !== 0).map(({ id, name }) => [id, name]));
    if (there.size !== this.#groups.size) this.wrong.push(`${there.size} groups, not ${this.#groups.size}`);
    for (const [id, name] of this.#groups)
      if (there.get(id) !== name) this.wrong.push(`group ${id} is ${there.get(id)}, not ${name}`);
  }

  /** Names that miners were given last. */
  get names(): ReadonlyMap<number, string> {
    return this.#miners;
  }

  /** Adds one, renames it two turns later, and removes it some turns after that. */
  async #group(turn: number): Promise<void> {
    const added = await this.#change("POST", "/api/groups", { name: `group ${turn}` });
    const id = z.object({ id: z.number() }).safeParse(added).data?.id;
    if (id !== undefined) this.#groups.set(id, `group ${turn}`);
    const ids = [...this.#groups.keys()];
    const second = ids.at(-3);
    if (second !== undefined && (await this.#change("PATCH", `/api/groups/${second}`, { name: `renamed ${turn}` })))
      this.#groups.set(second, `renamed ${turn}`);
    const [oldest] = ids;
    if (ids.length > 5 && oldest !== undefined && (await this.#change("DELETE", `/api/groups/${oldest}`)))
      this.#groups.delete(oldest);
  }

  async #rename(id: number, name: string): Promise<void> {
    if (await this.#change("PATCH", `/api/miners/${id}`, { name })) this.#miners.set(id, name);
  }

  /** It may be ill just now; that it is answered in time counts. */
  async #restart(id: number): Promise<void> {
    const { status, ms } = await this.#ask("POST", `/api/miners/${id}?action=restart`);
    this.made += 1;
    if (status >= 500 && ![502, 503, 504].includes(status)) this.wrong.push(`restart was answered with ${status}`);
    if (ms > 30_000) this.wrong.push(`restart was answered after ${Math.round(ms / 1000)} s`);
  }

  /** The reply, or null when it was refused. */
  async #change(method: string, path: string, body?: object): Promise<unknown> {
    const { status, text } = await this.#ask(method, path, body);
    this.made += 1;
    if (status < 300) return text === "" ? {} : JSON.parse(text);
    this.wrong.push(`${method} ${path} was answered with ${status}: ${text}`);
    return null;
  }

  /** Waits when it is told that it changes too much. */
  async #ask(method: string, path: string, body?: object) {
    const what: Ask =
      body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    for (;;) {
      const answer = await this.#service.ask(method, path, what);
      if (answer.status !== 429) return answer;
      await wait(1_000 * Number(answer.headers["retry-after"] ?? 1));
    }
  }
}
