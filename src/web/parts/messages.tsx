import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Problem } from "../api.ts";
import { t } from "../language.ts";
import { Icon } from "./icon.tsx";

interface Message {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const shown = signal<readonly Message[]>([]);
const goodMs = 6_000;
const most = 4;
let nextId = 1;

/** Shows the result of an action at the edge of the page. Problems stay until they are closed. */
export function say(text: string, tone: Message["tone"] = "good"): void {
  const id = nextId++;
  shown.value = [...shown.value.slice(1 - most), { id, text, tone }];
  if (tone === "good") setTimeout(() => close(id), goodMs);
}

/** The message of a failure. */
export const problemText = (error: unknown): string =>
  error instanceof Problem && error.mistakes.length > 1
    ? error.mistakes.map(({ path, message }) => `${path}: ${message}`).join(" · ")
    : error instanceof Error
      ? error.message
      : String(error);

export const sayProblem = (error: unknown): void => say(problemText(error), "bad");

const close = (id: number): void => {
  shown.value = shown.value.filter((message) => message.id !== id);
};

/** Messages at the edge of the page, below `children`. */
export const Messages = ({ children }: { children: ComponentChildren }) => (
  <div class="messages">
    {children}
    <div role="status">{shown.value.filter(({ tone }) => tone === "good").map(view)}</div>
    <div role="alert">{shown.value.filter(({ tone }) => tone === "bad").map(view)}</div>
  </div>
);

const view = ({ id, text, tone }: Message) => (
  <p key={id} class={`message ${tone}`}>
    <Icon name={tone === "good" ? "check" : "warning"} />
    <span dir="auto">{text}</span>
    <button type="button" class="button quiet small" aria-label={t.shell.close} onClick={() => close(id)}>
      <Icon name="close" />
    </button>
  </p>
);
