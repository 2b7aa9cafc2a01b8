/** Maps the options of the app, and Home Assistant's MQTT broker, to Rigbridge's configuration. */

/** Where the supervisor's ingress connects from, in every installation. */
const ingress = "172.30.32.2";

export interface Broker {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean;
  readonly username: string;
  readonly password: string;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const minerKeys = ["address", "name", "username", "password", "token"] as const;

/**
 * The configuration as JSON, which is YAML too. `options` is the content of /data/options.json, `broker` null without
 * one; `store` is the file of the store. Rigbridge checks the values when it reads them.
 */
export function configurationOf(options: Fields, broker: Broker | null, store: string): Fields {
  const key = text(options.api_key);
  const miners = Array.isArray(options.miners) ? options.miners.filter(isFields) : [];
  return {
    http: { host: "0.0.0.0", port: 17790, ingress, announce: key !== undefined, ...given({ key }) },
    store: { url: store },
    ...given({ mqtt: broker === null ? undefined : mqttOf(broker) }),
    miners: miners.map((miner) => given(Object.fromEntries(minerKeys.map((name) => [name, text(miner[name])])))),
  };
}

/** Off only if the option says so. */
export const wantsBroker = (options: Fields): boolean => options.home_assistant_mqtt !== false;

/** The values of LOG_LEVEL that the app offers. */
export const logLevelOf = (options: Fields): string => text(options.log_level) ?? "info";

function mqttOf({ host, port, ssl, username, password }: Broker): Fields {
  const url = `${ssl ? "mqtts" : "mqtt"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return given({ url, username: text(username), password: text(password) });
}

/** Undefined for an empty field. Rigbridge would replace `${...}` by an environment variable. */
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.replaceAll(/\$(?=\{)/g, "$$$$") : undefined;

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Asks the supervisor for Home Assistant's broker; null if there is none. Throws if the supervisor does not answer, or
 * not as documented.
 */
export async function brokerOf(supervisor: string, token: string): Promise<Broker | null> {
  const answer = await fetch(`${supervisor}/services/mqtt`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  }).catch(() => {
    throw new Error("The supervisor does not answer when asked for the MQTT broker");
  });
  const reply: unknown = await answer.json().catch(() => undefined);
  // The supervisor's answer if no app provides the service.
  if (answer.status === 400) return null;
  const data = isFields(reply) && answer.ok ? reply.data : undefined;
  if (!isFields(data)) throw new Error(`The supervisor answered ${answer.status} when asked for the MQTT broker`);
  const { host, port, ssl, username, password } = data;
  const number = Number(port);
  if (typeof host !== "string" || !Number.isInteger(number))
    throw new Error("The supervisor's answer names no host and port of the MQTT broker");
  return {
    host,
    port: number,
    ssl: ssl === true,
    username: typeof username === "string" ? username : "",
    password: typeof password === "string" ? password : "",
  };
}

/** Throws if it is not an object. */
export function optionsOf(json: string): Fields {
  const options: unknown = JSON.parse(json);
  if (!isFields(options)) throw new Error("The options are not an object");
  return options;
}
