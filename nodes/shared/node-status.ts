import type { NodeStatus as NodeRedStatus } from "node-red";
import type { Phase } from "./farm-connection.ts";
import type { Translate } from "./faults.ts";

export interface NodeStatusOptions {
  readonly show: (status: NodeRedStatus) => void;
  readonly translate: Translate;
  /** Epoch ms. */
  readonly now: () => number;
}

type Outcome = { readonly kind: "done" | "failed"; readonly text: string; readonly at: number };

/** The text under a node: connection problems first, then running work, then the last result and its time. */
export class NodeStatus {
  readonly #options: NodeStatusOptions;
  #phase: Phase = { kind: "idle" };
  #running = 0;
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

  /** The number of messages that wait for the service. */
  waiting(count: number): void {
    this.#waiting = count;
    this.#show();
  }

  /** Shows "working" until the work ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    this.#show();
    try {
      return await work();
    } finally {
      this.#running -= 1;
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
    const status = this.#current();
    const key = JSON.stringify(status);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#options.show(status);
  }

  #current(): NodeRedStatus {
    const { translate } = this.#options;
    const waiting = this.#waiting > 0 ? translate("status.waiting", { n: this.#waiting }) : "";
    if (this.#phase.kind === "lost")
      return {
        fill: "red",
        shape: "ring",
        text: line(translate("status.lost", { why: reasonOf(this.#phase, translate) }), waiting),
      };
    if (this.#phase.kind === "connecting")
      return { fill: "yellow", shape: "ring", text: line(translate("status.connecting"), waiting) };
    if (this.#running > 0)
      return { fill: "blue", shape: "dot", text: translate("status.working", { n: this.#running }) };
    if (this.#last === null)
      return this.#phase.kind === "idle"
        ? { fill: "grey", shape: "ring", text: translate("status.idle") }
        : { fill: "green", shape: "dot", text: translate("status.connected") };
    const { kind, text, at } = this.#last;
    return { fill: kind === "done" ? "green" : "red", shape: "dot", text: `${line(text)} · ${timeOf(at)}` };
  }
}

/** Short, since there is little room; the log has the whole message. */
const reasonOf = ({ error }: Extract<Phase, { kind: "lost" }>, translate: Translate): string => {
  if (error.code.startsWith("key.")) return translate("status.key");
  if (error.code === "service.unreachable") return translate("status.unreachable");
  return error.message;
};

const maxLength = 60;

const line = (...parts: readonly string[]): string => {
  const [text = ""] = parts
    .filter((part) => part !== "")
    .join(" · ")
    .split("\n");
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
};

/** Local time, like 14:05. */
const timeOf = (at: number): string => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
};
