import { signal } from "@preact/signals";
import { now } from "../clock.ts";
import { duration } from "../format.ts";
import { t } from "../language.ts";
import { signOut } from "../session.ts";
import { Icon } from "./icon.tsx";
import { say } from "./messages.tsx";

/** Seconds in which a stop can be undone. */
const graceSeconds = 10;

interface Waiting {
  readonly key: string;
  /** The name of the rig or room that it stops. */
  readonly name: string;
  /** Epoch ms. */
  readonly due: number;
  readonly send: () => Promise<void>;
}

const waiting = signal<readonly Waiting[]>([]);

/**
 * Sends a command after ten seconds, during which it can be undone on any page. If the page is hidden or closed in the
 * meantime, the command is sent at once: a user who stops a rig and pockets the phone wants it to stop.
 */
export function sendLater(key: string, name: string, send: () => Promise<void>): void {
  if (waiting.value.some((each) => each.key === key)) return;
  const due = Date.now() + graceSeconds * 1000;
  waiting.value = [...waiting.value, { key, name, due, send }];
  setTimeout(() => void sendNow((each) => each.key === key && each.due === due), graceSeconds * 1000);
}

/** Removes them from the list, so that none is sent twice. */
function sendNow(isMeant: (each: Waiting) => boolean): Promise<unknown> {
  const meant = waiting.value.filter(isMeant);
  waiting.value = waiting.value.filter((each) => !isMeant(each));
  return Promise.all(meant.map(({ send }) => send()));
}

/** Before the page is hidden or closed. */
const sendAllNow = (): Promise<unknown> => sendNow(() => true);

/** Undoable commands are sent first: without a session they could not be. */
export const sendAndSignOut = (): void => void sendAllNow().then(signOut, signOut);

addEventListener("pagehide", () => void sendAllNow());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") void sendAllNow();
});

function takeBack({ key, name }: Waiting): void {
  waiting.value = waiting.value.filter((each) => each.key !== key);
  say(t.undo.done({ name: isolated(name) }));
}

/** Whether a command is waiting; renders again when that changes. */
export const isWaiting = (key: string): boolean => waiting.value.some((each) => each.key === key);

/** A name of any script and direction within a sentence. */
const isolated = (name: string): string => `\u2068${name}\u2069`;

const leftOf = ({ due }: Waiting): string =>
  duration(Math.min(graceSeconds, Math.max(0, Math.ceil((due - now.value) / 1000))));

/** Shown beside the control of a waiting command: the remaining time, and a button to undo. */
export function Undo({ of }: { of: string }) {
  const found = waiting.value.find(({ key }) => key === of);
  if (found === undefined) return null;
  return (
    <p class="row undo">
      {/* The bar announces it to screen readers, once. */}
      <span aria-hidden="true">{t.undo.stops({ left: leftOf(found) })}</span>
      <button type="button" class="button small" onClick={() => takeBack(found)}>
        {t.undo.undo}
      </button>
    </p>
  );
}

/** The waiting commands, on every page. */
export const UndoBar = () => (
  <div role="status">
    {waiting.value.map((each) => (
      <p key={each.key} class="message undo-bar">
        <Icon name="stop" />
        <span class="visually-hidden">{t.undo.waits({ name: isolated(each.name), left: duration(graceSeconds) })}</span>
        <span aria-hidden="true">{t.undo.stopping({ name: isolated(each.name), left: leftOf(each) })}</span>
        <button type="button" class="button small" onClick={() => takeBack(each)}>
          {t.undo.undo}
          <span class="visually-hidden">: {each.name}</span>
        </button>
      </p>
    ))}
  </div>
);
