import type { NodeStatus as NodeRedStatus } from "node-red";
import type { Phase } from "./farm-connection.ts";
import type { Translate } from "./faults.ts";

export interface NodeStatusOptions {
  readonly show: (status: NodeRedStatus) => void;
  readonly translate: Translate;
  /** Epoch ms. */
  readonly now: () => number;
}

interface Outcome {
  readonly kind: "done" | "failed";
  readonly text: string;
  readonly figures: string;
  readonly at: number;
}

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
    // Results from before the connection was lost are outdated; an error stays.
    if (phase.kind === "lost" && this.#last?.kind === "done") this.#last = null;
    this.#show();
  }

  /** The number of messages that wait for the service. */
  waiting(count: number): void {
    this.#waiting = count;
    this.#show();
  }

  /** Shows "working" until the work ends. The caller shows its error with `failed`, so that no earlier result shows. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    this.#show();
    try {
      const result = await work();
      this.#running -= 1;
      this.#show();
      return result;
    } catch (error) {
      this.#running -= 1;
      throw error;
    }
  }

  /** A short text, as the last value; its figures stay when the text is cut. */
  done(text: string, figures = ""): void {
    // While the service is lost, the displayed state of its miners is a guess.
    if (this.#phase.kind === "lost") return;
    this.#last = { kind: "done", text, figures, at: this.#options.now() };
    this.#show();
  }

  failed(text: string): void {
    this.#last = { kind: "failed", text, figures: "", at: this.#options.now() };
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
    const { kind, text, figures, at } = this.#last;
    return { fill: kind === "done" ? "green" : "red", shape: "dot", text: `${line(text, figures)} · ${timeOf(at)}` };
  }
}

/** Short, since there is little room; the log has the whole message. */
const reasonOf = ({ error }: Extract<Phase, { kind: "lost" }>, translate: Translate): string => {
  if (error.code.startsWith("key.")) return translate("status.key");
  if (error.code === "service.unreachable") return translate("status.unreachable");
  return error.message;
};

const maxLength = 60;

/** One line; if it is too long, the text is cut but not the part after it. */
const line = (text: string, ...others: readonly string[]): string => {
  const [first = ""] = text.split("\n");
  const rest = others.filter((part) => part !== "").map((part) => ` · ${part}`);
  const room = Math.max(10, maxLength - rest.join("").length);
  return [first.length > room ? `${first.slice(0, room - 1)}…` : first, ...rest].join("");
};

/** Local time, like 14:05. */
const timeOf = (at: number): string => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
};
