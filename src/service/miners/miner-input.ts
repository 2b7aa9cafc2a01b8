import { invalid, RigbridgeError } from "../../contract/problems.ts";
import type { Input } from "../../contract/service.ts";
import { formatAddress, isSameAddress, parseAddress, storedAddress } from "../../link/address.ts";
import { drivers } from "../../link/drivers/index.ts";
import { detail } from "../../messages/detail.ts";
import type { StoredMiner } from "../../store/index.ts";
import { findOwn, given } from "../crud.ts";
import type { Placing } from "../places/placing.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type Access, needsAll } from "../users/access.ts";
import { blankMiner, isDemo } from "./declared-miner.ts";
import { groupIdOf } from "./groups.ts";
import type { MinerRegistry } from "./miner-registry.ts";
import { type PlacementContext, placementOf } from "./placement.ts";
import { checkNames, checkOwner, checkPlug, type PlugContext } from "./plug-owners.ts";

export interface MinerInputContext extends PlugContext, PlacementContext {
  readonly registry: PlugContext["registry"] &
    PlacementContext["registry"] &
    Pick<MinerRegistry, "checkAddress" | "isManaged">;
  readonly settings: Sections<"logins">;
}

/** The row of a miner that is added. Throws what `addMiner` does. */
export function newRow(
  { address, ...body }: Input<"addMiner">,
  context: MinerInputContext,
  placing: Placing,
  access: Access,
): StoredMiner {
  const given = { ...blankMiner, ...rowOf(body, context, access), address: canonical(address) };
  const placement = placementOf(body, null, context, placing, access);
  const row = { ...given, ...placement, ...withoutDefaultLogin(given.login, access) };
  if (!access.seesGroup(row.groupId)) throw hiddenGroup();
  context.registry.checkAddress(row.address, null, access);
  checkNames(row, context, access);
  if (row.supply !== null) checkOwner(row.supply, null, context, access);
  return row;
}

/** What a change of a miner makes of its row. Throws what `changeMiner` does. */
export function patchOf(
  { id, address, repair: _, ...body }: Input<"changeMiner">,
  context: MinerInputContext,
  placing: Placing,
  access: Access,
): Partial<StoredMiner> {
  if (address !== undefined && isDemo(id)) throw new RigbridgeError("not.possible", detail("rig.demo"));
  refuseManaged(id, context.registry);
  const existing = findOwn(context.store.miners, id, "miner");
  const fields = {
    ...(address === undefined ? {} : movedTo(address, existing.address)),
    ...(body.login == null ? {} : noOwnLogin),
    ...rowOf(body, context, access),
    ...placementOf(body, existing, context, placing, access),
  };
  const login = fields.login === undefined ? existing.login : fields.login;
  const isElsewhere = fields.address !== undefined || fields.groupId !== undefined;
  const change = { ...fields, ...(isElsewhere ? withoutDefaultLogin(login, access) : {}) };
  if (change.groupId !== undefined && !access.seesGroup(change.groupId)) throw hiddenGroup();
  if (change.address !== undefined) context.registry.checkAddress(change.address, id, access);
  const { name, uid } = change;
  checkNames(
    { ...(name === existing.name ? {} : { name }), ...(uid === existing.uid ? {} : { uid }) },
    context,
    access,
  );
  if (change.supply) checkOwner(change.supply, id, context, access);
  return change;
}

export function refuseManaged(id: number, registry: Pick<MinerRegistry, "isManaged">): void {
  if (registry.isManaged(id)) throw new RigbridgeError("not.possible", detail("rig.managed", { id }));
}

const canonical = (address: string): string => formatAddress(parseAddress(address));

/** A user of some groups must not have a default login sent to an address of their choice. */
const withoutDefaultLogin = (login: string | null, { all }: Access): Partial<StoredMiner> =>
  all || login !== null ? {} : { login: "" };

const noOwnLogin = { username: null, password: null, token: null } as const;

/** The login for the old address must not be sent to a new one. */
function movedTo(address: string, before: string): Partial<StoredMiner> {
  const moves = !isSameAddress(parseAddress(address), storedAddress(before));
  return {
    address: canonical(address),
    ...(moves ? { ...noOwnLogin, login: null } : {}),
  };
}

/** The fields of a row that are in the body. Throws `input.invalid`, `not.yet`, `user.forbidden`. */
function rowOf(
  body: Omit<Input<"changeMiner">, "id" | "address" | "repair">,
  context: MinerInputContext,
  access: Access,
): Partial<StoredMiner> {
  const { group, location: _location, placeId: _placeId, position: _position, ...fields } = body;
  const { supply, driver, login } = fields;
  if (supply) checkPlug(supply, context);
  if (driver != null && !drivers.some(({ id }) => id === driver)) {
    throw invalid("driver", `must be one of ${drivers.map(({ id }) => id).join(", ")}`);
  }
  if (login != null) checkLogin(login, context, access);
  const groupId = group === undefined ? undefined : groupIdOf(group, context.store.groups, access);
  return given({ ...fields, groupId });
}

/**
 * A stored login is a secret of the whole service: whoever chooses the address of a rig that names it can receive it.
 */
function checkLogin(login: string, { settings }: MinerInputContext, access: Access): void {
  needsAll(access);
  if (!settings.logins.some(({ name }) => name === login)) throw invalid("login", detail("input.noLogin", { login }));
}

/** A user with access to some groups must not put a miner where the user cannot see it. */
const hiddenGroup = (): RigbridgeError => new RigbridgeError("user.forbidden", detail("rights.group"));
