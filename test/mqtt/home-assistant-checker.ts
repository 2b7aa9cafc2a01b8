import { facts } from "./home-assistant-facts.ts";
import {
  availabilityOf,
  type Component,
  type DeviceMessage,
  isRecord,
  isRemoval,
  type Json,
  readMessage,
} from "./home-assistant-message.ts";
import { checkPlatform } from "./home-assistant-platforms.ts";

export { checkState } from "./home-assistant-states.ts";

/**
 * Every reason for which Home Assistant would refuse or drop a device-based discovery message, or a part of it; a few more
 * for what it takes and shows wrongly. Empty for a good one.
 *
 * It knows nothing of the discovery that it checks: which keys and values there are says Home Assistant itself.
 */
export function checkDevice(topic: string, payload: string): string[] {
  const misplaced = unless(
    /^(?:[^+#]+\/)?device\/(?:[A-Za-z0-9_-]+\/)?[A-Za-z0-9_-]+\/config$/.test(topic),
    `topic: "${topic}" is not <prefix>/device/<object id>/config, with ids of A-Z, a-z, 0-9, _ and -`,
  );
  if (payload === "") return misplaced;
  const message = readMessage(payload);
  if (message === null) return [...misplaced, "payload: is not a JSON object"];
  return [...misplaced, ...checkRoot(message), ...checkComponents(message)];
}

/** The same of all messages together, in the order in which they are published: ids are unique, parents come first. */
export function checkDevices(messages: ReadonlyMap<string, string>): string[] {
  const ids = new Map<string, string>();
  const devices = new Set<string>();
  return [...messages].flatMap(([topic, payload]) => {
    const message = readMessage(payload);
    const said = checkDevice(topic, payload);
    if (message === null) return said;
    const taken = (message.components ?? []).flatMap(({ id, own }) =>
      (["unique_id", "default_entity_id"] as const).flatMap((key) => {
        if (own[key] === undefined) return [];
        const name = `${own.platform} ${key} ${own[key]}`;
        const before = ids.get(name);
        ids.set(name, topic);
        return unless(
          before === undefined || before === topic,
          `${id}: ${key} "${own[key]}" is that of a component of ${before}`,
        );
      }),
    );
    const parent = message.device?.via_device;
    const orphan = unless(
      typeof parent !== "string" || devices.has(parent),
      `device: via_device "${parent}" has not been announced before`,
    );
    for (const identifier of listOf(message.device?.identifiers)) devices.add(String(identifier));
    return [...said, ...taken, ...orphan].map((text) => `${topic}: ${text}`);
  });
}

function checkRoot({ root, device, origin, availability }: DeviceMessage): string[] {
  return [
    ...unknownKeys("root", root, facts.root.keys),
    ...["device", "origin", "components"].flatMap((key) =>
      unless(isRecord(root[key]), `root: needs the object ${key}`),
    ),
    ...(device === null ? [] : checkOwner(device)),
    ...(origin === null ? [] : checkOrigin(origin)),
    ...checkAvailability("root", root, availability),
    ...checkValues("root", root),
  ];
}

function checkOwner(device: Json): string[] {
  const { identifiers, connections, configuration_url: url } = device;
  return [
    ...unknownKeys("device", device, facts.device.keys),
    ...unless(listOf(identifiers).length + listOf(connections).length > 0, "device: needs identifiers or connections"),
    ...unless(listOf(identifiers).every(isText), "device: identifiers are not strings"),
    ...unless(
      listOf(connections).every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText)),
      'device: connections are not pairs of strings like ["mac", "02:00:00:00:00:01"]',
    ),
    ...Object.entries(device).flatMap(([key, value]) =>
      unless(["identifiers", "connections"].includes(key) || isText(value), `device: ${key} is not a string`),
    ),
    ...unless(
      !isText(url) || isAddress(url),
      `device: configuration_url "${url}" is not an http, https or homeassistant URL`,
    ),
  ];
}

function checkOrigin(origin: Json): string[] {
  const { name, sw_version: version, support_url: url } = origin;
  return [
    ...unknownKeys("origin", origin, facts.origin.keys),
    ...unless(isText(name) && name !== "", "origin: needs a name"),
    ...unless(version === undefined || isText(version), "origin: sw_version is not a string"),
    ...unless(url === undefined || (isText(url) && isAddress(url)), `origin: support_url "${url}" is not an http URL`),
  ];
}

function checkAvailability(where: string, holder: Json, entries: readonly unknown[]): string[] {
  const { availability, availability_topic: topic, availability_mode: mode } = holder;
  return [
    ...unless(
      availability === undefined || topic === undefined,
      `${where}: availability and availability_topic exclude each other`,
    ),
    ...unless(
      mode === undefined || facts.availabilityModes.includes(String(mode)),
      `${where}: availability_mode "${mode}" is not one of ${facts.availabilityModes.join(", ")}`,
    ),
    ...entries.flatMap((entry, index) => {
      const at = `${where}: availability[${index}]`;
      if (!isRecord(entry)) return [`${at}: is not an object`];
      return [
        ...unknownKeys(at, entry, facts.availability.keys),
        ...unless(entry.topic !== undefined, `${at}: needs a topic`),
        ...checkValues(at, entry),
      ];
    }),
  ];
}

function checkComponents({ root, components }: DeviceMessage): string[] {
  if (components === null) return [];
  const lost = Object.keys(isRecord(root.components) ? root.components : {}).filter((id) =>
    components.every((component) => component.id !== id),
  );
  const names = components.map(({ own }) => `${own.platform} ${own.unique_id}`);
  const repeated = components.filter(
    ({ own }, index) => own.unique_id !== undefined && names.indexOf(names[index] ?? "") < index,
  );
  return [
    ...lost.map((id) => `${id}: is not an object`),
    ...unless(components.length + lost.length > 0, "root: has no components, so the device never appears"),
    ...components.flatMap((component) => checkComponent(component, root)),
    ...repeated.map(({ id, own }) => `${id}: unique_id "${own.unique_id}" is that of a component before it`),
  ];
}

function checkComponent({ id, own, whole }: Component, root: Json): string[] {
  const { platform, unique_id: uniqueId, entity_category: category, icon, name, default_entity_id: entityId } = own;
  const known = isText(platform) ? facts.platforms[platform] : undefined;
  if (!isText(platform) || known === undefined) return [`${id}: platform "${platform}" is none of MQTT's`];
  if (isRemoval(own)) return [];
  return [
    ...unless(
      !facts.entityPlatforms.includes(platform) || (isText(uniqueId) && uniqueId !== ""),
      `${id}: needs a unique_id, a string`,
    ),
    ...(known.keys === null ? [] : unknownKeys(id, own, [...ofComponents, ...facts.entityKeys, ...known.keys])),
    ...unless(
      entityId === undefined || (isText(entityId) && isEntityId(entityId, platform)),
      `${id}: default_entity_id "${entityId}" is not like ${platform}.desk_lamp`,
    ),
    // Each component gets the device of the root.
    ...known.required.flatMap((key) => unless(key === "device" || whole[key] !== undefined, `${id}: needs ${key}`)),
    ...unless(
      category === undefined || category === "diagnostic" || category === "config",
      `${id}: entity_category "${category}" is neither config nor diagnostic`,
    ),
    ...unless(
      category !== "config" || known.keys === null || known.categories.includes(category),
      `${id}: entity_category config is refused by ${platform}`,
    ),
    ...unless(
      icon === undefined || (isText(icon) && /^[\w-]+:[\w-]+$/.test(icon)),
      `${id}: icon "${icon}" is not like mdi:fan`,
    ),
    ...unless(
      name === undefined || name === null || (isText(name) && name !== ""),
      `${id}: name is neither text nor null`,
    ),
    ...(own.availability === undefined && own.availability_topic === undefined
      ? []
      : checkAvailability(id, whole, availabilityOf(own))),
    ...checkValues(id, own),
    ...checkPlatform(platform, id, whole, root),
  ];
}

/** Home Assistant takes the platform from elsewhere and slugs the rest again. */
const isEntityId = (id: string, platform: string): boolean =>
  id.startsWith(`${platform}.`) && /^[a-z0-9]+(_[a-z0-9]+)*$/.test(id.slice(platform.length + 1));
/** Read before the platform has its say. */
const ofComponents = ["platform", "~"];

const flags = ["enabled_by_default", "visible_by_default", "force_update", "optimistic", "retain"];
const counts = ["expire_after", "off_delay", "suggested_display_precision", "message_expiry_interval"];

/** What is said of a value by its key alone: topics, templates, flags, counts, payloads. */
function checkValues(where: string, record: Json): string[] {
  return Object.entries(record).flatMap(([key, value]) => {
    const at = `${where}: ${key}`;
    if (key === "topic" || key.endsWith("_topic")) return checkTopic(at, value, key.endsWith("command_topic"));
    if (key.endsWith("_template")) return checkTemplate(at, value, key.endsWith("command_template"));
    if (key === "qos") return unless(value === 0 || value === 1 || value === 2, `${at} is not 0, 1 or 2`);
    if (key === "retain") return unless(value === false, `${at} is not false: commands would stay at the broker`);
    if (flags.includes(key)) return unless(typeof value === "boolean", `${at} is neither true nor false`);
    if (counts.includes(key))
      return unless(typeof value === "number" && Number.isInteger(value) && value >= 0, `${at} is not a whole number`);
    if (key.startsWith("payload_") || key === "encoding" || key === "state_on" || key === "state_off")
      return unless(isText(value), `${at} is not a string`);
    return [];
  });
}

function checkTopic(at: string, topic: unknown, isWritten: boolean): string[] {
  if (!isText(topic) || topic === "") return [`${at} is not a topic`];
  const levels = topic.split("/");
  const isFilter = levels.every(
    (level, index) => level === "+" || (level === "#" && index === levels.length - 1) || !/[+#]/.test(level),
  );
  return [
    ...unless(Buffer.byteLength(topic) <= 65_535, `${at} is longer than 65535 bytes`),
    ...unless(!/\p{Cc}/u.test(topic), `${at} has control characters`),
    ...unless(isFilter && !(isWritten && /[+#]/.test(topic)), `${at} "${topic}" has a wildcard where none may be`),
  ];
}

/** Other readers of discovery know only plain paths; of commands they put in the value. */
function checkTemplate(at: string, template: unknown, isWritten: boolean): string[] {
  if (!isText(template)) return [`${at} is not a string`];
  const isPlain = isWritten
    ? !/\{[{%#]/.test(template.replaceAll(/\{\{ *value *\}\}/g, ""))
    : /^\{\{ *value_json(\.[A-Za-z_]\w*)+ *\}\}$/.test(template);
  return unless(isPlain, `${at} "${template}" is not a plain ${isWritten ? "{{ value }}" : "{{ value_json.path }}"}`);
}

const unknownKeys = (where: string, record: Json, known: readonly string[]): string[] =>
  Object.keys(record)
    .filter((key) => !known.includes(key))
    .map((key) => `${where}: does not know "${key}"`);

const isText = (value: unknown): value is string => typeof value === "string";

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

const isAddress = (url: string): boolean =>
  URL.canParse(url) &&
  ["http:", "https:", "homeassistant:"].includes(new URL(url).protocol) &&
  new URL(url).host !== "";

const unless = (isSo: boolean, message: string): string[] => (isSo ? [] : [message]);
