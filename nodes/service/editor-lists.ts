import type { Miner, Pool } from "rigbridge";
import type { Asked } from "../shared/farm-connection.ts";
import { groupPath } from "../shared/miner-choice.ts";

/** What the editor offers in its fields, of what the service tells now. Rejects with RigbridgeErrors. */
export const editorLists = {
  miners: async ({ farm }: Asked) =>
    [...farm.miners.values()].map(({ id, uid, name, hostDescription, hardware, groupId, statusInfo }) => ({
      ...{ id, uid, name, address: hostDescription, model: hardware, status: statusInfo.statusDisplay },
      group: groupNameIn(farm.groups, groupId),
      /** What the field should hold, to mean this one and no other. */
      value:
        [...farm.miners.values()].filter((each) => each.name.toLowerCase() === name.toLowerCase()).length === 1 &&
        !name.includes(",")
          ? name
          : (uid ?? String(id)),
    })),
  groups: async ({ farm }: Asked) =>
    farm.groups.map((group) => ({ id: group.id, name: group.name, value: groupPath(farm.groups, group) })),
  /** Definitions and groups of them that miners can be sent to, and what the miners list themselves. */
  pools: async ({ service, caller, farm }: Asked) => {
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
  /** The coins of pools and miners: a service does not list all those it knows. */
  coins: async ({ service, caller, farm }: Asked) => {
    const { list } = await service.listPools({}, caller);
    const coins = [...list.map(poolCoin), ...[...farm.miners.values()].map(minerCoin)].filter(
      ({ value }) => value !== "",
    );
    return [...new Map(coins.map((coin) => [coin.value, coin])).values()];
  },
  algorithms: async ({ service, caller }: Asked) =>
    (await service.listAlgorithms({}, caller)).map(({ id, name }) => ({ value: id, name })),
  templates: async ({ service, caller }: Asked) =>
    (await service.listManagedTemplates({}, caller)).managedTemplateList.map(({ id, name }) => ({ id, value: name })),
  rules: async ({ service, caller }: Asked) =>
    (await service.listMiners({}, caller)).manualActionList.map(({ id, name }) => ({ id, value: name })),
};

export type ListName = keyof typeof editorLists;

export const isListName = (name: string): name is ListName => Object.hasOwn(editorLists, name);

const groupNameIn = (groups: Asked["farm"]["groups"], id: number): string => {
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
