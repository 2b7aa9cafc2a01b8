import { PbfWriter } from "pbf";
import { compress } from "snappyjs";

export type Label = readonly [name: string, value: string];

/** A sample of one series, the name of its metric among the labels; a null value ends the series. */
export interface SeriesSample {
  /** By name, as the protocol wants them, and none of them empty. */
  readonly labels: readonly Label[];
  readonly value: number | null;
}

/** A compressed request, and how many samples it has. */
export interface WriteRequest {
  readonly body: Uint8Array;
  readonly samples: number;
}

/** The name of the metric, as a label. */
export const metricLabel = "__name__";

/**
 * The message `WriteRequest` of Prometheus remote write 1.0, as samples are added to it.
 * Source: https://prometheus.io/docs/specs/prw/remote_write_spec/
 */
export class WriteRequestBuilder {
  readonly #pbf = new PbfWriter();
  /** Epoch ms of its samples. */
  readonly #at: number;
  #samples = 0;

  constructor(at: number) {
    this.#at = at;
  }

  get samples(): number {
    return this.#samples;
  }

  add({ labels, value }: SeriesSample): void {
    this.#samples += 1;
    this.#pbf.writeMessage(
      field.timeseries,
      (_none, pbf) => {
        for (const label of labels) pbf.writeMessage(field.labels, writeLabel, label);
        pbf.writeMessage(field.samples, writeSample, { value, at: this.#at });
      },
      null,
    );
  }

  finish(): WriteRequest {
    return { body: compress(this.#pbf.finish()), samples: this.#samples };
  }
}

const field = { timeseries: 1, labels: 1, samples: 2, name: 1, text: 2, value: 1, timestamp: 2 } as const;

function writeLabel([name, text]: Label, pbf: PbfWriter): void {
  pbf.writeStringField(field.name, name);
  pbf.writeStringField(field.text, text);
}

function writeSample({ value, at }: { value: number | null; at: number }, pbf: PbfWriter): void {
  if (value === null) {
    pbf.writeTag(field.value, fixed64);
    pbf.writeFixed32(staleNaN.low);
    pbf.writeFixed32(staleNaN.high);
  } else pbf.writeDoubleField(field.value, value);
  pbf.writeVarintField(field.timestamp, at);
}

/** The wire type of a double. */
const fixed64 = 1;
/** Prometheus's mark of an ended series is one NaN among many, and JavaScript's numbers do not keep which. */
const staleNaN = { low: 0x0000_0002, high: 0x7ff0_0000 };
