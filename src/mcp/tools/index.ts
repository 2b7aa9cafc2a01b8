import type { Tool } from "../tool.ts";
import {
  acknowledge,
  changePool,
  jobStatus,
  rebootRigs,
  restartRigs,
  setMode,
  setPower,
  setRoom,
  startRigs,
  stopRigs,
} from "./act.ts";
import { farmSummary, listGroups, listPools, listRooms, listRules, upcoming } from "./farm.ts";
import { earnings, electricityPrice, history, notifications, ruleRuns, whatHappened } from "./past.ts";
import { listRigs, rigDetails, whyNotHashing } from "./rigs.ts";

/**
 * Every tool, named after what people ask. None deletes anything, and none touches users, keys, agents, hooks or
 * settings.
 */
export const tools: readonly Tool[] = [
  farmSummary,
  listRigs,
  rigDetails,
  whyNotHashing,
  history,
  earnings,
  electricityPrice,
  notifications,
  whatHappened,
  ruleRuns,
  listGroups,
  listPools,
  listRooms,
  listRules,
  upcoming,
  stopRigs,
  startRigs,
  restartRigs,
  rebootRigs,
  setPower,
  setMode,
  changePool,
  setRoom,
  acknowledge,
  jobStatus,
];
