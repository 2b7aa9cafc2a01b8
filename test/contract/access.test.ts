import { afterEach, expect, test } from "@jest/globals";
import { type OperationAccess, operationNames, operations } from "../../src/contract/operations.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { type Privilege, privileges } from "../../src/contract/resources.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";

afterEach(closeBenches);

/** The operations that are open to users who see only some groups and pools, by the privilege that each requires. */
const open: Readonly<Record<Privilege, string>> = {
  view: `listMiners getMiner listAddPools getMinerPool listPools getPool listPoolGroups listHosts getHost
    getHostSystemInfo listManagedMiners getManagedMiner listMiningSoftware listAlgorithms listNotifications
    listManagedTemplates getSummary getUser listGroups listCommands listBulkActions getBulkAction watchEvents getHistory
    listMinerRows watchMinerRows
    listPlaces exportPlaces listFacility listSignals
    listCurtailments getCurtailment getCurtailmentReport previewCurtailment listCurtailmentPlans
    getMoney getPrices getMarket listBenchmarks getManagedMinerSwitching getSummaryHistory getVersion listRooms listSites listOwned
    listRules listRuleRuns listRuns listSchedules upcomingSchedules listScheduleRuns listMaintenance`,
  control: `minerAction minerPoolAction allNotificationsAction notificationsAction notificationAction addMinerNote pollMiner cancelCommand
    startBulkAction cancelBulkAction locatePlace changeRoom startCurtailment changeCurtailment endCurtailment`,
  administrator: `releaseCurtailment exportMiners previewImport commitImport getMinerSettings listChannels addMiner changeMiner deleteMiner listUsers saveManagedTemplate deleteManagedTemplate addRule changeRule
    deleteRule tryRule addSchedule changeSchedule deleteSchedule addMaintenance deleteMaintenance`,
};

test("an operation is open exactly as this list says; all others require an administrator who sees everything", () => {
  const closed: OperationAccess = { privilege: "administrator", scope: "all" };
  for (const name of operationNames) {
    const privilege = privileges.find((each) => open[each].split(/\s+/).includes(name));
    const others = name === "replaceOwned" ? { ...closed, centre: true } : closed;
    const expected = privilege === undefined ? others : { privilege, scope: "visible" };
    expect([name, operations[name].access]).toEqual([name, expected]);
  }
});

test("the service refuses every operation to every user whose privilege or scope falls short of its entry", async () => {
  const { service } = await openBench();
  const { id: group } = await service.addGroup({ name: "Barn", parentId: 0 }, caller);
  for (const privilege of privileges)
    for (const groups of [null, [group]]) {
      const { id } = await service.saveUser({ id: 0, name: `${privilege} ${groups}`, privilege, groups }, caller);
      for (const name of operationNames) {
        const needed: OperationAccess = operations[name].access;
        const isEnough = privileges.indexOf(privilege) >= privileges.indexOf(needed.privilege);
        const expected =
          isEnough && (groups === null || needed.scope === "visible") && needed.centre !== true
            ? "allowed"
            : "user.forbidden";
        const outcome = outcomeOf(() => service.checkAccess?.(name, { actor: "test", userId: id }));
        expect([name, privilege, groups, outcome]).toEqual([name, privilege, groups, expected]);
      }
    }
});

function outcomeOf(check: () => void): string {
  try {
    check();
    return "allowed";
  } catch (error) {
    if (error instanceof RigbridgeError) return error.code;
    throw error;
  }
}
