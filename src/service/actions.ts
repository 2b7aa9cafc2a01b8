import { notFound, notYet, RigbridgeError } from "../contract/problems.ts";
import type { Input, MiningService } from "../contract/service.ts";
import type { Store } from "../store/index.ts";
import type { PoolBook } from "./pool-book.ts";
import type { Roster } from "./roster.ts";
import type { Order, Session, Steering } from "./steering.ts";
import { find } from "./stored.ts";

type ActionOperations = Pick<MiningService, "minerAction" | "minerPoolAction">;
type Action = Input<"minerAction">;
type Work = (session: Session) => Promise<string>;

/** What a person tells one rig to do. */
export function actionOperations(roster: Roster, steering: Steering, store: Store, book: PoolBook): ActionOperations {
  /** The work of an action; throws before a command is written down when it refers to what is not there. */
  const workOf = (input: Action): Work => {
    switch (input.action) {
      case "reboot":
      case "restart":
        return (session) => session.set(input.action, "true");
      case "stop":
        return (session) => switchMining(session, false);
      case "start":
        return (session) => switchMining(session, true);
      case "set":
        return (session) => session.set(input.property ?? "", input.value ?? "");
      case "set_power_limit":
        return (session) => session.set("power_limit", String(input.watts), "watts");
      case "set_mode":
        return (session) => session.set("mode", input.mode ?? "", "mode");
      case "locate":
        return (session) => session.set("locate", String(input.on), "on");
      case "add_pool": {
        const logins = book.logins(input.pool_id ?? 0, input.pool_type ?? "single");
        return (session) => inTurn(logins, (login) => session.addPool(login));
      }
      case "change_pool": {
        const [first, ...others] = book.logins(input.pool_id ?? 0, input.pool_type ?? "single");
        if (first === undefined) throw notFound("pool", input.pool_id ?? 0);
        return async (session) => {
          const said = await session.changePool(first);
          const canAdd = others.length > 0 && session.reading.poolActions.includes("add");
          if (canAdd) return `${said}; ${await inTurn(others, (login) => session.addPool(login))}`;
          return others.length === 0
            ? said
            : `${said}; the rig takes no further pools, so the rest of the group is left out`;
        };
      }
      case "apply_template":
        find(store.templates, input.template_id ?? 0, "managed template");
        throw notYet("Applying a managed template");
      case "rule":
        find(store.rules, input.rule_id ?? 0, "rule");
        throw notYet("Running a rule");
    }
  };

  return {
    minerAction: async (input, caller) => {
      const { rig, facts } = roster.entry(input.id);
      const { id, action, ...parameters } = input;
      return steering.run(rig, order(id, facts.name, action, parameters), caller, workOf(input));
    },
    minerPoolAction: async ({ id, poolId, action }, caller) => {
      const { rig, facts } = roster.entry(id);
      return steering.run(rig, order(id, facts.name, `pool_${action}`, { pool: poolId }), caller, (session) => {
        const pool = roster.poolById(id, poolId, session.reading.pools);
        if (pool === undefined) throw notFound("pool", poolId);
        return session.onPool(action, pool);
      });
    },
  };
}

function order(minerId: number, minerName: string, action: string, given: object): Order {
  const parameters: Order["parameters"] = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters[name] = value;
  return { minerId, minerName, action, parameters };
}

/** Refused when it is so already, as `canStop` and `canStart` say. */
async function switchMining(session: Session, on: boolean): Promise<string> {
  const control = session.reading.controls.find(({ key }) => key === "mining");
  if (control?.value === on) {
    throw new RigbridgeError("not.possible", on ? "The rig is mining already" : "The rig is stopped already");
  }
  return session.set("mining", String(on));
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<string>): Promise<string> {
  const said: string[] = [];
  for (const item of items) said.push(await work(item));
  return said.join("; ");
}
