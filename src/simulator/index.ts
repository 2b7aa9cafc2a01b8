/** Virtual rigs that speak the real protocols on real sockets, for trying out, tests and benchmarks. */

export { type DialectName, dialects } from "./cgminer/dialects.ts";
export { demoFarm, demoLogin } from "./demo.ts";
export { houseRigs, startDemoHouse } from "./demo-house.ts";
export { startFan, type VirtualFan } from "./facility/fan.ts";
export { type MeterFault, meterFaults } from "./facility/meter-model.ts";
export { type MeterOptions, startModbusMeter, type VirtualMeter } from "./facility/modbus-meter.ts";
export { startSensor, type VirtualSensor } from "./facility/sensor.ts";
export { startShellyEm } from "./facility/shelly-em.ts";
export { type PduFault, type PduOptions, startPdu, type VirtualPdu } from "./facility/snmp-pdu.ts";
export { type Farm, type FarmOptions, startFarm } from "./farm.ts";
export { type Fault, type FaultName, type FaultSetting, faults } from "./faults.ts";
export { startVtn, type VirtualVtn, type VtnFault, type VtnOptions, vtnFaults } from "./grid/vtn.ts";
export { type Hardware, type HardwareName, hardware } from "./hardware.ts";
export { type FarmLayout, type FarmMix, farmOf, farmToken } from "./layout.ts";
export { type Pool, type PoolSpec, RigModel } from "./model.ts";
export { type PlugKind, type PlugOptions, startPlug, type VirtualPlug } from "./plug.ts";
export { isProgram, type ProgramKind } from "./programs/index.ts";
export type { ProgramOptions } from "./programs/program.ts";
export { fraction } from "./random.ts";
export {
  knownLocale,
  type MinerStatus as TwinMinerStatus,
  startTwin,
  type Twin,
  type TwinMiner,
  type TwinOptions,
  type TwinRequests,
  type TwinUser,
} from "./reference/index.ts";
export type { RequestLog } from "./rig.ts";
export {
  type AntminerSpec,
  type ApolloSpec,
  type AuradineSpec,
  type AvalonSpec,
  type AxeosSpec,
  type BraiinsSpec,
  type CgminerSpec,
  type ElphapexSpec,
  type EpicSpec,
  type GoldshellSpec,
  type HammerSpec,
  type HiveonSpec,
  type IceriverSpec,
  type InnosiliconSpec,
  type LuxosSpec,
  type MaraSpec,
  type MskminerSpec,
  type MujinaSpec,
  type ProgramSpec,
  type ProtoSpec,
  plainRig,
  type RigKind,
  type RigSpec,
  rigKinds,
  rigName,
  type SealminerSpec,
  standardPorts,
  type VnishSpec,
  type VolcminerSpec,
  type WhatsminerSpec,
  type XmrigSpec,
} from "./rig-spec.ts";
export { SimulatedRig } from "./simulated-rig.ts";
