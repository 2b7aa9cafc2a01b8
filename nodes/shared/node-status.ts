import type { NodeStatus as Shown } from "node-red";
import type { Phase } from "./farm-connection.ts";
import type { Say } from "./faults.ts";

export interface NodeStatusOptions {
  readonly show: (status: Shown) => void;
  readonly say: Say;
  /** Epoch ms. */
  readonly now: () => number;
}

type Outcome = { readonly kind: "done" | "failed"; readonly text: string; readonly at: number };

/**
 * What stands under a node: the trouble with the service first, then what is under way, then what came last and when.
 * Nothing is shown twice.
 */
export class NodeStatus {
  readonly #options: NodeStatusOptions;
  #phase: Phase = { kind: "idle" };
  #underWay = 0;
  #waiting = 0;
  #last: Outcome | null = null;
  #shown = "";

  constructor(options: NodeStatusOptions) {
    this.#options = options;
  }

  phase(phase: Phase): void {
    this.#phase = phase;
    this.#show();
  }

  /** Messages that wait for the service. */
  waiting(count: number): void {
    this.#waiting = count;
    this.#show();
  }

  /** Shows that something is under way until the work ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    this.#show();
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#show();
    }
  }

  /** A short text, as the last value. */
  done(text: string): void {
    this.#last = { kind: "done", text, at: this.#options.now() };
    this.#show();
  }

  failed(text: string): void {
    this.#last = { kind: "failed", text, at: this.#options.now() };
    this.#show();
  }

  #show(): void {
    const status = this.#present();
    const key = JSON.stringify(status);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#options.show(status);
  }

  #present(): Shown {
    const { say } = this.#options;
    const waiting = this.#waiting > 0 ? say("status.waiting", { n: this.#waiting }) : "";
    if (this.#phase.kind === "lost")
      return {
        fill: "red",
        shape: "ring",
        text: line(say(`status.lost`, { why: lostWord(this.#phase, say) }), waiting),
      };
    if (this.#phase.kind === "connecting")
      return { fill: "yellow", shape: "ring", text: line(say("status.connecting"), waiting) };
    if (this.#underWay > 0) return { fill: "blue", shape: "dot", text: say("status.working", { n: this.#underWay }) };
    if (this.#last === null)
      return this.#phase.kind === "idle"
        ? { fill: "grey", shape: "ring", text: say("status.idle") }
        : { fill: "green", shape: "dot", text: say("status.connected") };
    const { kind, text, at } = this.#last;
    return { fill: kind === "done" ? "green" : "red", shape: "dot", text: `${line(text)} · ${timeOf(at)}` };
  }
}

/** The few words that there is room for; the whole of it stands in the log. */
const lostWord = ({ error }: Extract<Phase, { kind: "lost" }>, say: Say): string => {
  if (error.code.startsWith("key.")) return say("status.key");
  if (error.code === "service.unreachable") return say("status.unreachable");
  return error.message;
};

const longest = 60;

const line = (...parts: readonly string[]): string => {
  const [text = ""] = parts
    .filter((part) => part !== "")
    .join(" · ")
    .split("\n");
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
};

/** The time of day at the machine, as 14:05. */
const timeOf = (at: number): string => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
};
