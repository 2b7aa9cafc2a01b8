import { type OwnTopics, refusedTopic, reservedTopic } from "../../config/plug-topics.ts";
import { isListedHost } from "../../config/webhook-hosts.ts";
import type { Messages } from "../../contract/messages.ts";
import { type Mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import type { RunStep } from "../../contract/steps.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { ownerSends, type WebTargets } from "../web-targets.ts";

/** Effects outside the service that the configuration allows. */
export interface StepLimits {
  readonly ownTopics: () => OwnTopics;
  /** Whether rules may run programs. */
  readonly programs: boolean;
  /** The broker, if there is one. */
  readonly messages: Pick<Messages, "isConfigured">;
  readonly webTargets: WebTargets;
  /** Allowed web hook targets of users who are limited to some groups or pools. */
  readonly webhookHosts: readonly string[];
  /** Why the creator of a step may not send to a channel, or to `all`; null if allowed. */
  channelRefusal(channel: string, maker: Access): string | null;
  /** The channels that receive a message to this channel, or to `all`: those available to this creator. */
  channelsFor(channel: string, maker: Access): readonly string[] | "all";
}

/** Where a rule, schedule or template comes from: the configuration file, or the user who created it over the API. */
export interface Made {
  readonly owner: "file" | "store";
  /** Null for the file and the owner. */
  readonly makerId: number | null;
}

/**
 * Whether a list may include the steps of another. They run with the rights of the outer list, so the creator of the
 * inner one must not have fewer.
 */
export const mayContain = (outer: Made, inner: Made): boolean =>
  inner.owner === "file" || (outer.owner === "store" && (inner.makerId === null || inner.makerId === outer.makerId));

/**
 * The access of the creator of a rule, schedule or template: everything for the file and the owner. Throws
 * `user.forbidden` if that user no longer exists or is no longer an administrator.
 */
export function makerAccess({ makerId }: Pick<Made, "makerId">, accessBook: AccessBook, what: string): Access {
  if (makerId === null) return accessBook.of({ actor: "service" });
  const access = accessIfAny(makerId, accessBook);
  if (access?.privilege === "administrator") return access;
  const now = access === undefined ? "was removed" : "is no longer an administrator";
  throw new RigbridgeError("user.forbidden", `${what} is disabled: the user who made it ${now}`);
}

function accessIfAny(userId: number, accessBook: AccessBook): Access | undefined {
  try {
    return accessBook.of({ actor: "service", userId });
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "not.found") return undefined;
    throw error;
  }
}

/** Like `makerAccess`, but null if the creator no longer has the right. */
export function accessOfMaker({ makerId }: Pick<Made, "makerId">, accessBook: AccessBook): Access | null {
  if (makerId === null) return accessBook.of({ actor: "service" });
  const access = accessIfAny(makerId, accessBook);
  return access?.privilege === "administrator" ? access : null;
}

export const isMaker = ({ makerId }: Pick<Made, "makerId">, { userId }: Access): boolean =>
  makerId !== null && makerId === userId;

/**
 * Creators with the same value share one name space: 0 for the file, the owner, and users with access to everything.
 */
export const nameSpace = (makerId: number | null, accessBook: AccessBook): number =>
  makerId === null || accessIfAny(makerId, accessBook)?.all === true ? 0 : makerId;

/** Sorts rows: first the user's own, then those of the file and the owner. */
export const ownFirst = <T extends Pick<Made, "makerId">>(rows: readonly T[], access: Access): T[] => {
  const rank = (row: T): number => (row.makerId === access.userId ? 0 : row.makerId === null ? 1 : 2);
  return rows.toSorted((a, b) => rank(a) - rank(b));
};

/** Throws `user.forbidden` if the caller may not change what another user created. */
export function checkOwner(
  { makerId }: Pick<Made, "makerId">,
  caller: Caller,
  accessBook: AccessBook,
  what: string,
  id: number,
): void {
  if (accessBook.of(caller).all || (makerId !== null && makerId === caller.userId)) return;
  throw new RigbridgeError("user.forbidden", detail("rights.maker", { what, id }));
}

/**
 * Notifies once of each rule and template whose creator has lost the right to have it; closes the notification once the
 * creator regains it. Call it at the start and when users change.
 */
export function reportDisabled(
  { rules, templates }: Store,
  accessBook: AccessBook,
  setWarning: (title: CodedText, message: string | null) => void,
): void {
  const made = [
    ...enabled(rules).map((row) => ({
      row,
      what: `Rule ${row.name}`,
      title: coded("notices.rules.rule", { name: row.name }),
    })),
    ...enabled(templates).map((row) => ({
      row,
      what: `Template ${row.name}`,
      title: coded("notices.rules.template", { name: row.name }),
    })),
  ];
  for (const { row, what, title } of made) {
    if (row.makerId === null) continue;
    try {
      makerAccess(row, accessBook, what);
      setWarning(title, null);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      setWarning(title, error.message);
    }
  }
}

/** The intersection of two accesses. */
export const both = (one: Access, other: Access): Access =>
  one === other
    ? one
    : {
        privilege: one.privilege,
        all: one.all && other.all,
        userId: one.userId,
        seesGroup: (id) => one.seesGroup(id) && other.seesGroup(id),
        seesPool: (id) => one.seesPool(id) && other.seesPool(id),
      };

/**
 * Why a step must not run; null if it may. `maker`: the access of its creator; null for the configuration file. Checked
 * both on saving and on running, because rights and configuration may change in between.
 */
export function refusalOf(step: RunStep, maker: Access | null, limits: StepLimits): string | null {
  if ("publish" in step) {
    if (!limits.messages.isConfigured) return "publish needs the MQTT bridge: set mqtt in the configuration";
    const refusal = (maker === null ? reservedTopic : refusedTopic)(step.publish, limits.ownTopics());
    return refusal && `publish ${refusal}`;
  }
  if ("notify" in step) return maker === null ? null : limits.channelRefusal(step.notify, maker);
  if ("webhook" in step) {
    const url = new URL(step.webhook);
    const sender = maker ?? ownerSends;
    // Checked first, so that no other refusal reveals what is at a forbidden address.
    if (!sender.all && !isListedHost(limits.webhookHosts, url))
      return "webhook goes only to the hosts that automation.webhookHosts of the configuration file lists";
    const refusal = limits.webTargets.refusal(url, sender);
    return refusal && `webhook ${refusal}`;
  }
  if ("run" in step) {
    if (!limits.programs) return "run is off: set automation.programs to true in the configuration file";
    return maker === null || maker.all ? null : "run needs a user with access to all groups and pools";
  }
  return null;
}

/** The mistakes of steps to be saved, each at its path. Names, such as channels, are checked separately. */
export const refusals = (
  steps: readonly RunStep[],
  maker: Access | null,
  limits: StepLimits,
  path: string,
): Mistake[] =>
  steps.flatMap((step, index) => {
    const message = "notify" in step ? null : refusalOf(step, maker, limits);
    return message === null ? [] : [{ path: `${path}[${index}]`, message }];
  });

/** The rule or template of a cause. Throws `not.found`. */
export function madeFor(store: Store, kind: "rule" | "template", id: number) {
  const row = (kind === "rule" ? store.rules : store.templates).get(id);
  if (row === undefined || row.disabled) throw notFound(kind, id);
  return row;
}
