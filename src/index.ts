/** What other programs, and the front ends of the house, build on: the contract. */

export { findingsIn, sentence, unknownKeySentence } from "./config/sentence.ts";
export * from "./contract/events.ts";
export { type MinerAction, minerActions } from "./contract/inputs.ts";
export { didYouMean, nearest } from "./contract/nearest.ts";
export { type Operation, type OperationName, operations } from "./contract/operations.ts";
export { HttpPlugSettings, MqttPlugSettings, PlugSettings } from "./contract/plug-settings.ts";
export { type Mistake, type ProblemCode, problems, RigbridgeError } from "./contract/problems.ts";
export * from "./contract/properties.ts";
export * from "./contract/readings.ts";
export { isRecord } from "./contract/record.ts";
export * from "./contract/resources.ts";
export type { Caller, Encoded, EncodedEvent, Input, KeyHolder, MiningService, Reply } from "./contract/service.ts";
export { urlsIn } from "./contract/service-urls.ts";
export { isNumberText, ownGroupName } from "./contract/site-numbers.ts";
export { isUnread } from "./contract/unread.ts";
export { type CodedText, detailFrom } from "./messages/coded-text.ts";
export { version } from "./version.ts";
