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

/** What the configuration allows rules to do outside of the service. */
export interface StepLimits {
  readonly ownTopics: () => OwnTopics;
  /** Whether rules may run programs. */
  readonly programs: boolean;
  /** The broker, if there is one. */
  readonly messages: Pick<Messages, "isConfigured">;
  readonly webTargets: WebTargets;
  /** Where web hooks of users may go who are limited to some groups or pools. */
  readonly webhookHosts: readonly string[];
  /** Why the maker of a step may not send to a channel, or to `all`; null if they may. */
  channelRefusal(channel: string, maker: Access): string | null;
  /** The channels that get a message to this one, or to `all`: all that this maker may use. */
  channelsFor(channel: string, maker: Access): readonly string[] | "all";
}

/** A rule, schedule or template: whether the configuration file declares it, and the user who made it over the API. */
export interface Made {
  readonly owner: "file" | "store";
  /** Null for the file, and for the owner. */
  readonly makerId: number | null;
}

/**
 * Whether a list may run the steps of another in its place. They run with the rights of the outer list, so nobody who
 * has fewer may have made them.
 */
export const mayContain = (outer: Made, inner: Made): boolean =>
  inner.owner === "file" || (outer.owner === "store" && (inner.makerId === null || inner.makerId === outer.makerId));

/**
 * The access of the one who made a rule, schedule or template: everything for the file and the owner. Throws
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

/** The same; null for a maker who may no longer make any. */
export function accessOfMaker({ makerId }: Pick<Made, "makerId">, accessBook: AccessBook): Access | null {
  if (makerId === null) return accessBook.of({ actor: "service" });
  const access = accessIfAny(makerId, accessBook);
  return access?.privilege === "administrator" ? access : null;
}

export const isMaker = ({ makerId }: Pick<Made, "makerId">, { userId }: Access): boolean =>
  makerId !== null && makerId === userId;

/** Makers with the same one share their names: 0 for the file, the owner, and users with access to everything. */
export const nameSpace = (makerId: number | null, accessBook: AccessBook): number =>
  makerId === null || accessIfAny(makerId, accessBook)?.all === true ? 0 : makerId;

/** Rows with what this user made first, then what the file and the owner did. */
export const ownFirst = <T extends Pick<Made, "makerId">>(rows: readonly T[], access: Access): T[] => {
  const rank = (row: T): number => (row.makerId === access.userId ? 0 : row.makerId === null ? 1 : 2);
  return rows.toSorted((a, b) => rank(a) - rank(b));
};

/** Throws `not.found` to callers who do not see what another user made, `user.forbidden` if they may not change it. */
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
 * Notifies of rules and templates whose maker may no longer make any, once for each; the notification is acknowledged
 * when that is over. Call it at the start, and when users have changed.
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

/** What both accesses allow. */
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
 * Why a step must not be run, null if it may. `maker`: the access of the one who made it; null for the configuration
 * file. Checked when it is saved and when it is run: rights and the configuration change in between.
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
    // First, so that no other refusal reveals what is at an address that they may not use.
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

/** The mistakes of steps that are to be saved, each at its path; those of names, as of channels, are found with the names. */
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
