import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import type { MiningService, WorkerHealth } from "../contract/service.ts";
import { type Family, familyText, type Metric } from "../metrics/exposition.ts";

/** Samples of this process and its HTTP server, as text. Delays are those since the previous call. */
export function processMetrics(
  app: FastifyInstance,
  version: string,
  workers: NonNullable<MiningService["workers"]>,
): () => Promise<string> {
  const answers = new Map([1, 2, 3, 4, 5].map((status) => [status, 0]));
  app.addHook("onResponse", (_request, reply, done) => {
    const status = Math.floor(reply.statusCode / 100);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    done();
  });
  const lag = eventLoopLag(app);

  return async () => {
    const { user, system } = process.cpuUsage();
    const delays = lag();
    const ofWorkers = (figure: (health: WorkerHealth) => number): Samples =>
      workers().map((health, index) => [{ worker: String(index + 1) }, figure(health)]);
    const perWorker = [
      metric(
        "rigbridge_worker_heap_bytes",
        "gauge",
        "Heap of a worker.",
        ofWorkers(({ heap }) => heap),
      ),
      metric(
        "rigbridge_worker_eventloop_lag_p99_seconds",
        "gauge",
        "Event loop lag of a worker within a second.",
        ofWorkers(({ lagP99 }) => lagP99),
      ),
      metric(
        "rigbridge_worker_eventloop_lag_max_seconds",
        "gauge",
        "Longest event loop lag of a worker within a second.",
        ofWorkers(({ lagMax }) => lagMax),
      ),
    ];
    return [
      metric("rigbridge_info", "gauge", "This service.", [[{ version }, 1]]),
      metric(
        "rigbridge_http_requests_total",
        "counter",
        "Answers by status class.",
        [...answers].map(([status, count]) => [{ class: `${status}xx` }, count]),
      ),
      metric("process_start_time_seconds", "gauge", "When the process started.", [[{}, performance.timeOrigin / 1000]]),
      metric("process_cpu_seconds_total", "counter", "CPU time used.", [[{}, (user + system) / 1e6]]),
      metric("process_resident_memory_bytes", "gauge", "Resident memory.", [[{}, process.memoryUsage.rss()]]),
      metric("process_open_fds", "gauge", "Open files and sockets.", [[{}, await openFiles()]]),
      metric("nodejs_eventloop_lag_p99_seconds", "gauge", "Event loop lag since the last scrape.", delays.p99),
      metric("nodejs_eventloop_lag_max_seconds", "gauge", "Longest event loop lag since the last scrape.", delays.max),
      ...(workers().length === 0 ? [] : perWorker),
    ].join("");
  };
}

type Samples = Family["samples"];

const metric = (name: string, type: Metric["type"], help: string, samples: Samples): string =>
  familyText({ metric: { name, type, help }, samples });

/** ms between two timers of the histogram, which records the whole interval and not only the delay. */
const resolution = 20;

/** Starts on the first call, so that a service without scrapes does not wake up for it. */
function eventLoopLag(app: FastifyInstance): () => Record<"p99" | "max", Samples> {
  const histogram = monitorEventLoopDelay({ resolution });
  app.addHook("onClose", (_instance, done) => {
    histogram.disable();
    done();
  });
  const late = (nanoseconds: number): Samples =>
    histogram.count === 0 ? [] : [[{}, Math.max(0, nanoseconds / 1e9 - resolution / 1000)]];
  return () => {
    histogram.enable();
    const delays = { p99: late(histogram.percentile(99)), max: late(histogram.max) };
    histogram.reset();
    return delays;
  };
}

/** null if the system has no /proc. */
const openFiles = (): Promise<number | null> =>
  readdir("/proc/self/fd").then(
    ({ length }) => length,
    () => null,
  );
