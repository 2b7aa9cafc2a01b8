/** Why a connection to a broker failed. */
export interface ConnectFailure {
  /** One sentence; the same for the same cause. */
  readonly message: string;
  /** The broker may not support this version of MQTT. */
  readonly version: boolean;
  /** The broker may not admit this client id. */
  readonly client: boolean;
}

/** An error of mqtt.js or a socket: `code` is MQTT's reason code, or Node's code. */
export interface BrokerError {
  readonly message: string;
  readonly code?: string | number;
}

/** Reason codes of CONNACK, those of MQTT 3.1.1 (below 128) and of 5. */
const refusals: Readonly<Record<number, (wants: string) => string>> = {
  2: () => "refuses the client id; set another as clientId",
  3: () => "is unavailable; check its log",
  4: (login) => login,
  5: (login) => login,
  133: () => "refuses the client id; set another as clientId",
  134: (login) => login,
  135: (login) => login,
  136: () => "is unavailable; check its log",
  137: () => "is busy",
  138: () => "has banned this client",
  140: (login) => login,
  149: () => "refuses the will as too large",
  151: () => "reports that a quota is exceeded",
  154: () => "does not support retained messages, which the bridge needs",
  155: () => "does not support QoS 1, which the bridge needs",
  159: () => "reports too many connections",
};
/** Those with which a broker may refuse a client id. */
const aboutClient: ReadonlySet<number> = new Set([2, 5, 133, 135]);
const unknownVersions: readonly (string | number | undefined)[] = [1, 132];

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name cannot be resolved",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  ETIMEDOUT: "timeout",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  EACCES: "permission denied",
};

/** The failure as a sentence without secrets. `place`: host and port; null: the broker closed without an error. */
export function connectFailureOf(error: BrokerError | null, place: string, hasLogin: boolean): ConnectFailure {
  if (error === null)
    return { message: `The broker at ${place} closes the connection without a reason`, version: true, client: true };
  const { code, message } = error;
  if (unknownVersions.includes(code))
    return { message: `The broker at ${place} speaks neither MQTT 5 nor 3.1.1`, version: true, client: false };
  if (typeof code === "number") {
    const login = hasLogin
      ? "refuses the username and password; check mqtt.username and mqtt.password"
      : "requires a username and password; set mqtt.username and mqtt.password";
    const why = refusals[code]?.(login) ?? `refuses the connection (reason ${code})`;
    return { message: `The broker at ${place} ${why}`, version: false, client: aboutClient.has(code) };
  }
  if (message === "connack timeout")
    return { message: `The server at ${place} is not an MQTT broker`, version: true, client: false };
  if (isOfTls(code)) return { message: `The broker at ${place} ${tlsFault(code)}`, version: false, client: false };
  const why = code === undefined ? "the server there does not speak MQTT" : (unreachable[code] ?? code);
  // Some brokers reset the connection at a version that they do not support.
  const isCut = code === "ECONNRESET" || code === "EPIPE";
  return { message: `No broker answers at ${place} (${why})`, version: isCut, client: isCut };
}

const tlsCodes =
  /^(ERR_(TLS|SSL|OSSL)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_|INVALID_CA|INVALID_PURPOSE|EPROTO$)/;

const isOfTls = (code: string | undefined): code is string => code !== undefined && tlsCodes.test(code);

function tlsFault(code: string): string {
  // An alert is the broker's verdict on this side's certificate.
  if (code.endsWith("ALERT_CERTIFICATE_REQUIRED")) return "requires a client certificate; set mqtt.cert and mqtt.key";
  if (/_ALERT_(UNKNOWN_CA|.*CERTIFICATE.*)$/.test(code)) return `refuses the certificate in mqtt.cert (${code})`;
  return `is not trusted: ${certificateFault(code)}`;
}

function certificateFault(code: string): string {
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (/^(SELF_|DEPTH_|UNABLE_TO)/.test(code))
    return `its certificate is signed by an unknown authority; set mqtt.ca to the file of that authority's certificate (${code})`;
  return `the TLS handshake failed (${code})`;
}
