import { useMemo, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { CurtailedRig, CurtailmentReport } from "../../../contract/curtailment.ts";
import { addressOf, call } from "../../api.ts";
import { dateTime, duration, energy, number, percent, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import { None } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { Card, Page, Tile, Tiles } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Mark } from "../../parts/status.tsx";
import { usePoll } from "../../parts/use-poll.ts";
import { link } from "../../route.ts";
import { ChangeButton } from "./change-button.tsx";
import { ReasonText } from "./reason-text.tsx";
import { rigStates, targetText, toneOf } from "./words.ts";
import "./curtailment.css";

/** ms between two reads while it is under way. */
const busyMs = 5_000;

/** What a curtailment did: its power over time, and each of its rigs. */
export default function ReportPage() {
  const { params } = useRoute();
  const id = Number(params.id);
  const report = useLoaded((signal) => call("getCurtailmentReport", { id }, { signal }), [id]);
  const curtailment = report.value?.curtailment;
  usePoll(report, curtailment === undefined || curtailment.state === "ended" ? null : busyMs);
  return (
    <Page
      title={t.curtailment.reportTitle({ id: String(id) })}
      lead={curtailment === undefined ? null : <Lead {...curtailment} />}
      actions={
        <>
          <a class="button" href={link("curtailment")}>
            <Icon name="back" /> {t.curtailment.title}
          </a>
          {curtailment === undefined ? null : <ChangeButton curtailment={curtailment} onChanged={report.reload} />}
          <a
            class="button"
            href={addressOf("getCurtailmentReport", { id, format: "csv", bom: true })}
            download={`curtailment-${id}.csv`}
          >
            <Icon name="download" /> CSV
          </a>
        </>
      }
    >
      <Loading from={report}>{(value, known) => <Report report={value} known={known} />}</Loading>
    </Page>
  );
}

const Lead = ({ drill, reason, actor }: CurtailmentReport["curtailment"]) => (
  <>
    <ReasonText reason={reason} drill={drill} /> · <bdi>{actor}</bdi>
  </>
);

interface ReportProps {
  readonly report: CurtailmentReport;
  readonly known: Known;
}

function Report({ report, known }: ReportProps) {
  const { curtailment, shed, rigs } = report;
  const { state, target, started, until, reached, ended, power: watts } = curtailment;
  return (
    <>
      <Card title={targetText(target)} actions={<Mark tone={toneOf[state]}>{t.curtailment.states[state]}</Mark>}>
        <p class="curtail-facts">
          <span>
            {t.curtailment.began} <time dateTime={started}>{dateTime(started)}</time>
          </span>
          {ended !== null || until === null ? null : (
            <span>
              {t.curtailment.until} <time dateTime={until}>{dateTime(until)}</time>
            </span>
          )}
          {ended === null ? null : (
            <span>
              {t.curtailment.ended} <time dateTime={ended}>{dateTime(ended)}</time>
            </span>
          )}
        </p>
        <Tiles>
          <Tile name={t.curtailment.baseline} value={power(watts.baseline)} />
          <Tile name={t.curtailment.target} value={power(watts.target)} />
          <Tile
            name={t.curtailment.reachedAfter}
            value={
              reached === null ? t.curtailment.notReached : duration((Date.parse(reached) - Date.parse(started)) / 1000)
            }
          />
          <Tile name={t.curtailment.lessEnergy} value={kilowattHours(shed.energy)} note={seenText(shed.seen)} />
          <Tile name={t.curtailment.byMeter} value={kilowattHours(shed.byMeter)} note={meterText(shed)} />
          <Tile name={t.curtailment.shortfall} value={kilowattHours(shed.shortfall)} />
        </Tiles>
        <PowerChart report={report} known={known} />
      </Card>
      <Card title={t.curtailment.rigs}>
        <Rigs rigs={rigs} known={known} />
      </Card>
    </>
  );
}

/** Only if some of the time was not measured. */
const seenText = (share: number | null): string | undefined =>
  share === null || share > 0.995 ? undefined : t.curtailment.seen({ share: percent(share) });

/** How the meters measured, and how much of the time. */
function meterText({ meterBy, meterSeen }: CurtailmentReport["shed"]): string | undefined {
  if (meterBy === null) return undefined;
  const by = meterBy === "counter" ? t.curtailment.byCounter : t.curtailment.byPower;
  const seen = seenText(meterSeen);
  return seen === undefined ? by : `${by}, ${seen}`;
}

const kilowattHours = (value: number | null): string => energy(value === null ? null : value * 1000);

function PowerChart({ report: { curtailment, samples }, known }: ReportProps) {
  const { target } = curtailment.power;
  const times = useMemo(() => samples.map(({ time }) => Date.parse(time)), [samples]);
  const series = useMemo((): Series[] => {
    const meters = samples.map(({ meter }) => meter);
    return [
      { name: t.curtailment.rigs, values: samples.map((each) => each.rigs), format: power, shape: "area", colour: 1 },
      ...(meters.some((meter) => meter !== null)
        ? [{ name: t.curtailment.meter, values: meters, format: power, colour: 2 } as const]
        : []),
      { name: t.curtailment.target, values: samples.map(() => target), format: power, colour: 3 },
    ];
  }, [samples, target]);
  return <Chart known={known} title={t.curtailment.chart} times={times} series={series} height={260} />;
}

/** Rigs that are listed at first. */
const pageLength = 100;

function Rigs({ rigs, known }: { readonly rigs: readonly CurtailedRig[]; readonly known: Known }) {
  const [shown, setShown] = useState(pageLength);
  if (rigs.length === 0) return <None known={known}>{t.curtailment.noRigs}</None>;
  return (
    <>
      <Scroll name={t.curtailment.rigs}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.curtailment.rig}</th>
              <th scope="col">{t.curtailment.state}</th>
              <th scope="col" class="number">
                {t.curtailment.before}
              </th>
              <th scope="col" class="number">
                {t.curtailment.wanted}
              </th>
              <th scope="col" class="number">
                {t.curtailment.now}
              </th>
              <th scope="col" class="number">
                {t.curtailment.tries}
              </th>
              <th scope="col">{t.curtailment.message}</th>
            </tr>
          </thead>
          <tbody>
            {rigs.slice(0, shown).map(({ minerId, name, state, before, wanted, now, tries, message }) => (
              <tr key={minerId}>
                <th scope="row" class="name">
                  <a class="clamped" href={link(`rigs/${minerId}`)}>
                    <bdi>{name}</bdi>
                  </a>
                </th>
                <td>
                  <Mark tone={rigStates[state]}>{t.curtailment.rigStates[state]}</Mark>
                </td>
                <td class="number">{power(before)}</td>
                <td class="number">{power(wanted)}</td>
                <td class="number">{power(now)}</td>
                <td class="number">{number(tries)}</td>
                <td>
                  <bdi>{message}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {rigs.length > shown ? (
        <button type="button" class="button" onClick={() => setShown(shown + pageLength)}>
          {t.money.showMore({ count: number(rigs.length - shown) })}
        </button>
      ) : null}
    </>
  );
}
