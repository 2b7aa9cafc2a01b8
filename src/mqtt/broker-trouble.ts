/** How a connection to a broker came to nothing. */
export interface Trouble {
  /** For people; the same each time that the same is wrong. */
  readonly message: string;
  /** The broker does not know this version of MQTT, or may not. */
  readonly version: boolean;
}

/** What mqtt.js and sockets say of an error: the reason code of MQTT, or Node's code. */
export interface BrokerError {
  readonly message: string;
  readonly code?: string | number;
}

/** Reason codes of CONNACK, those of MQTT 3.1.1 (below 128) and of 5. */
const refusals: Readonly<Record<number, (wants: string) => string>> = {
  2: () => "refuses the client id; set another as clientId",
  3: () => "is not available now",
  4: (login) => login,
  5: (login) => login,
  133: () => "refuses the client id; set another as clientId",
  134: (login) => login,
  135: (login) => login,
  136: () => "is not available now",
  137: () => "is busy",
  138: () => "has banned this client",
  140: (login) => login,
  149: () => "finds the will too large",
  151: () => "says that a quota is exceeded",
  154: () => "does not keep messages (retain), which the bridge cannot do without",
  155: () => "does not do QoS 1, which the bridge cannot do without",
  159: () => "says that there are too many connections",
};
const unknownVersions: readonly (string | number | undefined)[] = [1, 132];

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the name is not known",
  EAI_AGAIN: "the name cannot be looked up",
  EHOSTUNREACH: "no route",
  ENETUNREACH: "no route",
  ETIMEDOUT: "no answer",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  EACCES: "not permitted",
};

/** What an error says, in a sentence that holds no secret. `place`: host and port; null: it closed without a word. */
export function troubleOf(error: BrokerError | null, place: string, hasLogin: boolean): Trouble {
  if (error === null)
    return { message: `The broker at ${place} closes the connection without saying why`, version: true };
  const { code, message } = error;
  if (unknownVersions.includes(code))
    return { message: `The broker at ${place} speaks neither MQTT 5 nor 3.1.1`, version: true };
  if (typeof code === "number") {
    const login = hasLogin ? "refuses the username and password" : "wants a username and password";
    const why = refusals[code]?.(login) ?? `refuses the connection (reason ${code})`;
    return { message: `The broker at ${place} ${why}`, version: false };
  }
  if (message === "connack timeout") return { message: `What answers at ${place} is no broker`, version: true };
  if (isOfTls(code)) return { message: `The broker at ${place} ${tlsFault(code)}`, version: false };
  const why = code === undefined ? "what answers there does not speak MQTT" : (unreachable[code] ?? code);
  // Some cut off who greets them with a version that they do not know.
  return { message: `No broker answers at ${place} (${why})`, version: code === "ECONNRESET" || code === "EPIPE" };
}

const tlsCodes =
  /^(ERR_(TLS|SSL|OSSL)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_|INVALID_CA|INVALID_PURPOSE|EPROTO$)/;

const isOfTls = (code: string | undefined): code is string => code !== undefined && tlsCodes.test(code);

function tlsFault(code: string): string {
  // An alert is what the broker says of our side.
  if (code.endsWith("ALERT_CERTIFICATE_REQUIRED"))
    return "wants a certificate; name its file as cert, and that of its key as key";
  if (/_ALERT_(UNKNOWN_CA|.*CERTIFICATE.*)$/.test(code))
    return `does not take the certificate that cert names (${code})`;
  return `is not trusted: ${distrust(code)}`;
}

function distrust(code: string): string {
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (/^(SELF_|DEPTH_|UNABLE_TO)/.test(code))
    return `its certificate is signed by nobody known; name the file of who signed it as ca (${code})`;
  return `no secure connection comes about (${code})`;
}
