import { z } from "zod";
import { HttpHeaders, WebAddress } from "../contract/http-request.ts";
import { isUnprotected } from "./unprotected.ts";

/** What the writer itself sets. */
const ownHeaders =
  /^(connection|content-(encoding|length|type)|expect|host|te|trailer|transfer-encoding|upgrade|user-agent|x-prometheus-remote-write-version)$/i;
/** The labels of our own metrics. */
const ownLabels = /^(algorithm|board|fan|group|id|model|name|reason|result|status|uid)$/;

const LabelName = z
  .string()
  .max(100)
  .regex(/^(?!__)[A-Za-z_][A-Za-z0-9_]*$/, "must be letters, digits and _, not beginning with a digit or __")
  .refine((name) => !ownLabels.test(name), "is a label of the metrics themselves");

/** Config key `history.remoteWrite`. */
export const RemoteWriteSettings = z
  .strictObject({
    url: WebAddress.describe("where Prometheus, Mimir, Thanos or VictoriaMetrics receives remote write"),
    headers: HttpHeaders.refine(
      (headers) => !Object.keys(headers).some((name) => ownHeaders.test(name)),
      "must not contain headers that belong to the protocol, such as Content-Type",
    )
      .refine((headers) => Object.keys(headers).length <= 20, "must not be more than 20")
      .default({})
      .describe("headers of the request, such as Authorization: Bearer and a token; kept secret"),
    labels: z
      .record(LabelName, z.string().min(1).max(1_000))
      .refine((labels) => Object.keys(labels).length <= 20, "must not be more than 20")
      .default({})
      .describe("labels that every sample gets, such as site: cabin"),
    interval: z.number().min(5).max(3600).default(30).describe("seconds between two samples of a miner"),
  })
  .refine(
    ({ url, headers }) => Object.keys(headers).length === 0 || !URL.canParse(url) || !isUnprotected(new URL(url)),
    {
      path: ["url"],
      error: "must begin with https:// outside private networks; http would send the headers unencrypted",
    },
  );
export type RemoteWriteSettings = z.infer<typeof RemoteWriteSettings>;
