import type { ComponentChildren } from "preact";
import type { Device, MinerDetail } from "../../../contract/resources.ts";
import { hashrate, number, power, scaled, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Mark, type Tone } from "../../parts/status.tsx";
import { Facts } from "./facts.tsx";
import { boardFaults, deviceFaults, type Fault, isSwitchedOff, reportShares } from "./faults.ts";

const tones: Record<Fault, Tone> = { hot: "warning", dead: "bad", sick: "bad", chips: "warning", off: "off" };

/** The faults of a part, by word and colour; "OK" if there are none. */
const Faults = ({ faults }: { faults: readonly Fault[] }) =>
  faults.length === 0 ? (
    <Mark tone="good">{t.rig.fine}</Mark>
  ) : (
    faults.map((fault) => (
      <Mark key={fault} tone={tones[fault]}>
        {t.rig.fault[fault]}{" "}
      </Mark>
    ))
  );

/** Whether there is anything to list. */
export const hasDevices = ({ readings, gpuList, cpuList, pgaList, asicList }: MinerDetail): boolean =>
  readings.boards.length + readings.fans.length + gpuList.length + cpuList.length + pgaList.length + asicList.length >
    0 || readings.psu !== null;

/** Boards, cards, processors, fans and the power supply. */
export function Devices({ miner }: { miner: MinerDetail }) {
  const { readings, gpuList, cpuList, pgaList, asicList } = miner;
  const { boards, fans, psu } = readings;
  return (
    <>
      {boards.length === 0 ? (
        <Cards title={t.rig.asics} list={asicList} readings={readings} />
      ) : (
        <Boards miner={miner} />
      )}
      <Cards title={t.rig.gpus} list={gpuList} readings={readings} isGpu />
      <Cards title={t.rig.cpus} list={cpuList} readings={readings} />
      <Cards title={t.rig.pgas} list={pgaList} readings={readings} />
      <div class="cards">
        {fans.length === 0 ? null : (
          <Card title={t.rig.fans}>
            <Table name={t.rig.fans} columns={[t.rig.fan, t.rig.speed, t.rig.percent, t.rig.state]}>
              {fans.map(({ rpm, percent }, index) => (
                <tr key={index}>
                  <th scope="row">{number(index + 1)}</th>
                  <td class="number">{rpm === null ? "–" : `${number(rpm)} rpm`}</td>
                  <td class="number">{percent === null ? "–" : `${number(percent)} %`}</td>
                  <td>
                    <Faults faults={rpm === 0 && readings.mining === true ? ["dead"] : []} />
                  </td>
                </tr>
              ))}
            </Table>
          </Card>
        )}
        {psu === null ? null : (
          <Card title={t.rig.psu}>
            <Facts
              list={[
                [t.rig.model, psu.model === null ? null : <bdi>{psu.model}</bdi>],
                [t.rig.serial, psu.serial === null ? null : <bdi>{psu.serial}</bdi>],
                [t.rig.power, power(psu.power)],
                [t.rig.voltage, psu.voltage === null ? "–" : `${number(psu.voltage, 2)} V`],
                [t.rig.temperature, temperature(psu.temperature)],
              ]}
            />
          </Card>
        )}
      </div>
    </>
  );
}

function Table({ name, columns, children }: { name: string; columns: readonly string[]; children: ComponentChildren }) {
  return (
    <Scroll name={name}>
      <table class="devices">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                class={index === 0 || column === t.rig.state || column === t.rig.serial ? "" : "number"}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

function Boards({ miner }: { miner: MinerDetail }) {
  const { readings } = miner;
  const { boards, algorithm, mining } = readings;
  const columns = [
    t.rig.boardName,
    t.rig.state,
    t.rig.hashrate,
    t.rig.temperature,
    t.rig.chipTemperature,
    t.rig.chips,
    t.rig.frequency,
    t.rig.voltage,
    t.rig.serial,
  ];
  return (
    <Card title={t.rig.boards}>
      <Table name={t.rig.boards} columns={columns}>
        {boards.map((board) => (
          <tr key={board.slot}>
            <th scope="row">{number(board.slot)}</th>
            <td>
              <Faults faults={boardFaults(board, mining === true, isSwitchedOff(miner, board))} />
            </td>
            <td class="number">{hashrate(board.hashrate, algorithm)}</td>
            <td class="number">{temperature(board.temperature)}</td>
            <td class="number">{temperature(board.chipTemperature)}</td>
            <td class="number">
              {number(board.chips)}
              {board.chipsExpected === null ? "" : ` / ${number(board.chipsExpected)}`}
            </td>
            <td class="number">{scaled(board.frequency, "Hz")}</td>
            <td class="number">{board.voltage === null ? "–" : `${number(board.voltage, 2)} V`}</td>
            <td>
              <bdi>{board.serial ?? "–"}</bdi>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

interface CardsProps {
  readonly title: string;
  readonly list: readonly Device[];
  readonly readings: MinerDetail["readings"];
  readonly isGpu?: boolean;
}

/** Their integers are 0 where the rig reports nothing. */
const known = (value: number, text: (value: number) => string): string => (value === 0 ? "–" : text(value));

function Cards({ title, list, readings, isGpu = false }: CardsProps) {
  if (list.length === 0) return null;
  const hasShares = reportShares(list, readings);
  const ofGpus = isGpu ? [t.rig.memoryTemperature, t.rig.power, t.rig.clock, t.rig.memoryClock, t.rig.fan] : [];
  const columns = [
    t.rig.device,
    t.rig.state,
    t.rig.hashrate,
    t.rig.temperature,
    ...ofGpus,
    t.rig.accepted,
    t.rig.rejectedName,
  ];
  return (
    <Card title={title}>
      <Table name={title} columns={columns}>
        {list.map((device, index) => {
          const { deviceInfo: info, speedInfo, progressInfo } = device;
          return (
            <tr key={index}>
              <th scope="row">
                <bdi>{device.name}</bdi>
              </th>
              <td>
                <Faults faults={deviceFaults(device)} />
              </td>
              <td class="number">{hashrate(speedInfo.hashrateValue, readings.algorithm)}</td>
              <td class="number">{known(info.temperature, temperature)}</td>
              {isGpu ? (
                <>
                  <td class="number">{temperature(info.memoryTemperature)}</td>
                  <td class="number">{power(info.power)}</td>
                  <td class="number">{known(info.gpuClock, (value) => `${number(value)} MHz`)}</td>
                  <td class="number">{known(info.gpuMemoryClock, (value) => `${number(value)} MHz`)}</td>
                  <td class="number">{known(info.fanPercent, (value) => `${number(value)} %`)}</td>
                </>
              ) : null}
              <td class="number">{hasShares ? progressInfo.line1 : "–"}</td>
              <td class="number">{hasShares ? progressInfo.line2 : "–"}</td>
            </tr>
          );
        })}
      </Table>
    </Card>
  );
}
