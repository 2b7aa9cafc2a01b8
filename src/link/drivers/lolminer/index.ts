import type { DeviceReading, PoolReading } from "../../driver.ts";
import { TolerantReader } from "../../tolerant-reader.ts";
import { highest, total } from "../shared/figures.ts";
import { busOf, type CardFields, cardFigures, dualWork, gpuDevice } from "../shared/gpu-device.ts";
import { firstTwo, loginOf, type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/**
 * lolMiner. Its API is off without --apiport, has no login and controls nothing. Its reply has one shape up to about
 * 1.3 and another one since. Source: the maker's documents, and a reply of 1.26.
 */
export const lolminer = readOnlyProgram({
  id: "lolminer",
  name: "lolMiner",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [],
  path: "/summary",
  isIts: (reply) => /^lolMiner\b/i.test(reply.text("Software") ?? ""),
  report: (reply) => (reply.has("GPUs") ? olderReport(reply) : report(reply)),
});

const programOf = (reply: TolerantReader) => ({
  software: "LolMiner",
  make: "lolMiner",
  version: reply.text("Software")?.replace(/^lolMiner\s*/i, "") || null,
});

function report(reply: TolerantReader): ProgramReport {
  const { notes } = reply;
  const [first = new TolerantReader(undefined, notes, ""), second] = firstTwo(reply.list("Algorithms", 8), notes);
  const work = workOf(first);
  const dual = second === undefined ? null : workOf(second);
  return {
    ...programOf(reply),
    readings: {
      hashrate: work.hashrate,
      algorithm: work.algorithm,
      shares: work.shares,
      dual: dual === null ? null : dualWork(dual),
      uptime: reply.object("Session").number("Uptime"),
    },
    devices: cardsOf(reply, first),
    pools: [...poolOf(first), ...(second === undefined ? [] : poolOf(second, true))],
  };
}

function workOf(algorithm: TolerantReader) {
  return {
    algorithm: algorithm.text("Algorithm"),
    hashrate: algorithm.number("Total_Performance", { times: factorOf(algorithm) }),
    shares: {
      accepted: algorithm.integer("Total_Accepted"),
      rejected: algorithm.integer("Total_Rejected"),
      hardwareErrors: algorithm.integer("Total_Errors"),
    },
  };
}

const fields = {
  temperature: "Core_Temp",
  memoryTemperature: "Mem_Temp",
  fanPercent: "Fan_Speed",
  clock: "CCLK",
  memoryClock: "MCLK",
  power: "Power",
} satisfies CardFields;

/** Each algorithm has lists of figures, in the order of the cards. */
function cardsOf(reply: TolerantReader, algorithm: TolerantReader): DeviceReading[] {
  const cards = reply.list("Workers");
  const times = factorOf(algorithm);
  const rates = algorithm.row("Worker_Performance");
  const accepted = algorithm.row("Worker_Accepted");
  const rejected = algorithm.row("Worker_Rejected");
  const errors = algorithm.row("Worker_Errors");
  const buses = busesOf(cards);
  return cards.map((card, position) =>
    gpuDevice({
      name: card.text("Name") ?? `GPU ${position}`,
      hashrate: rates.number(`${position}`, { times }),
      ...cardFigures(card, fields),
      accepted: accepted.integer(`${position}`),
      rejected: rejected.integer(`${position}`),
      hardwareErrors: errors.integer(`${position}`),
      bus: buses[position] ?? null,
    }),
  );
}

/** lolMiner gives the factor to the base unit with each rate; the name of the unit only confirms it. */
const factorOf = (algorithm: TolerantReader): number =>
  algorithm.number("Performance_Factor", { min: 1, max: 1e18 }) ?? factorOfUnit(algorithm.text("Performance_Unit"));

/** Of "Mh/s", "sol/s" or "g/s", a rate of graphs; the prefix may be in lower case. */
function factorOfUnit(unit: string | null): number {
  const [, prefix = ""] = /^([kmgtp]?)(?:h|sol|g)\/s$/i.exec(unit ?? "") ?? [];
  return { k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15 }[prefix.toLowerCase()] ?? 1;
}

/** "10:0": bus and device, decimal; hexadecimal if any card's bus contains a letter. */
function busesOf(cards: readonly TolerantReader[]): (number | null)[] {
  const isHexadecimal = cards.some((card) => /[a-f]|[:.].*[:.]/i.test(card.text("PCIE_Address", 32) ?? ""));
  if (isHexadecimal) return cards.map((card) => busOf(card, "PCIE_Address"));
  return cards.map((card) => {
    const bus = /^(\d{1,3}):\d{1,2}$/.exec(card.text("PCIE_Address", 32) ?? "")?.[1];
    return bus === undefined || Number(bus) > 255 ? null : Number(bus);
  });
}

function poolOf(algorithm: TolerantReader, isSecond = false): PoolReading[] {
  return programPool({
    second: isSecond,
    url: algorithm.text("Pool", 255),
    worker: loginOf(algorithm.text("User", 255), algorithm.text("Worker")),
    accepted: algorithm.integer("Total_Accepted"),
    rejected: algorithm.integer("Total_Rejected"),
    stale: algorithm.integer("Total_Stales"),
  });
}

function olderReport(reply: TolerantReader): ProgramReport {
  const session = reply.object("Session");
  const stratum = reply.object("Stratum");
  const times = factorOfUnit(session.text("Performance_Unit"));
  const cards = reply.list("GPUs");
  const accepted = session.integer("Accepted");
  const rejected = lessOf(session.integer("Submitted"), accepted);
  const errors = cards.map((card) => card.integer("Session_HWErr"));
  return {
    ...programOf(reply),
    readings: {
      hashrate: session.number("Performance_Summary", { times }),
      algorithm: reply.object("Mining").text("Algorithm"),
      power: session.number("TotalPower", { absent: 0 }),
      uptime: session.number("Uptime"),
      bestShare: highest(cards.map((card) => card.number("Session_BestShare", { absent: 0 }))),
      shares: { accepted, rejected, hardwareErrors: total(errors) },
    },
    devices: olderCardsOf(cards, times),
    pools: programPool({
      url: stratum.text("Current_Pool", 255),
      worker: stratum.text("Current_User", 255),
      accepted,
      rejected,
    }),
  };
}

const olderFields = {
  temperature: "Temp (deg C)",
  memoryTemperature: "Mem Temp (deg C)",
  fanPercent: "Fan Speed (%)",
  power: "Consumption (W)",
  accepted: "Session_Accepted",
  hardwareErrors: "Session_HWErr",
} satisfies CardFields;

function olderCardsOf(cards: readonly TolerantReader[], times: number): DeviceReading[] {
  const buses = busesOf(cards);
  return cards.map((card, position) => {
    const figures = cardFigures(card, olderFields);
    return gpuDevice({
      name: card.text("Name") ?? `GPU ${position}`,
      hashrate: card.number("Performance", { times }),
      ...figures,
      rejected: lessOf(card.integer("Session_Submitted"), figures.accepted ?? null),
      bus: buses[position] ?? null,
    });
  });
}

/** Submitted but not accepted. */
const lessOf = (submitted: number | null, accepted: number | null): number | null =>
  submitted === null || accepted === null ? null : Math.max(submitted - accepted, 0);
