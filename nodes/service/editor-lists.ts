import type { Miner, Pool } from "rigbridge";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { groupPath } from "../shared/miner-choice.ts";

/** Suggestions for the editor's fields, from the service's current state. Rejects with RigbridgeErrors. */
export const editorLists = {
  miners: async ({ farm }: ConnectedService) =>
    [...farm.miners.values()].map(({ id, uid, name, hostDescription, hardware, groupId, statusInfo }) => ({
      id,
      uid,
      name,
      address: hostDescription,
      model: hardware,
      status: statusInfo.statusDisplay,
      group: groupNameIn(farm.groups, groupId),
      /** The field's value that selects only this miner. */
      value:
        [...farm.miners.values()].filter((each) => each.name.toLowerCase() === name.toLowerCase()).length === 1 &&
        !name.includes(",")
          ? name
          : (uid ?? String(id)),
    })),
  groups: async ({ farm }: ConnectedService) =>
    farm.groups.map((group) => ({ id: group.id, name: group.name, value: groupPath(farm.groups, group) })),
  /** Pool definitions and groups of them, and the pools that miners list themselves. */
  pools: async ({ service, caller, farm }: ConnectedService) => {
    const [{ list }, groups] = await Promise.all([service.listPools({}, caller), service.listPoolGroups({}, caller)]);
    const listed = new Set([...farm.miners.values()].flatMap(({ poolList }) => poolList.map(({ name }) => name)));
    return [
      ...list
        .filter(({ description }) => description !== "")
        .map((pool) => ({ kind: "pool", id: pool.id, value: pool.description, coin: pool.coinShortName })),
      ...groups.map(({ id, name }) => ({ kind: "group", id: Number(id), value: name, coin: "" })),
      ...[...listed].map((name) => ({ kind: "listed", id: null, value: name, coin: "" })),
    ];
  },
  /** The coins of pools and miners, since a service does not list all of its coins. */
  coins: async ({ service, caller, farm }: ConnectedService) => {
    const { list } = await service.listPools({}, caller);
    const coins = [...list.map(poolCoin), ...[...farm.miners.values()].map(minerCoin)].filter(
      ({ value }) => value !== "",
    );
    return [...new Map(coins.map((coin) => [coin.value, coin])).values()];
  },
  algorithms: async ({ service, caller }: ConnectedService) =>
    (await service.listAlgorithms({}, caller)).map(({ id, name }) => ({ value: id, name })),
  templates: async ({ service, caller }: ConnectedService) =>
    (await service.listManagedTemplates({}, caller)).managedTemplateList.map(({ id, name }) => ({ id, value: name })),
  rules: async ({ service, caller }: ConnectedService) =>
    (await service.listMiners({}, caller)).manualActionList.map(({ id, name }) => ({ id, value: name })),
};

export type ListName = keyof typeof editorLists;

export const isListName = (name: string): name is ListName => Object.hasOwn(editorLists, name);

const groupNameIn = (groups: ConnectedService["farm"]["groups"], id: number): string => {
  const group = groups.find((each) => each.id === id);
  return group === undefined ? "" : groupPath(groups, group);
};

const poolCoin = ({ coinShortName, coinDisplayName, coinAlgorithm }: Pool) => ({
  value: coinShortName,
  name: coinDisplayName,
  algorithm: coinAlgorithm,
});

const minerCoin = ({ coinInfo }: Miner) => ({
  value: coinInfo.shortName,
  name: coinInfo.displayName,
  algorithm: coinInfo.algorithm,
});
