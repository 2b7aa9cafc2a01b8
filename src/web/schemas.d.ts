/** Generated from the contract's schemas (scripts/web.mjs). */
declare module "virtual:schemas" {
  type Schema = import("./parts/schema-form/schema.ts").Schema;
  export const rule: Schema;
  export const schedule: Schema;
  export const template: Schema;
  /** The settings of a channel by its type, without the type. */
  export const channels: Readonly<Record<string, Schema>>;
  /** Settings of a managed miner besides its program: GPU settings, profit switching, idle start. */
  export const managedMiner: Schema;
  /** The unit of each reading that is a number, with a remark after a comma. */
  export const readingUnits: Readonly<Record<string, string>>;
}

/** Generated from the sections of the configuration (scripts/web.mjs). */
declare module "virtual:sections" {
  type Schema = import("./parts/schema-form/schema.ts").Schema;
  export const sections: Readonly<Record<import("../contract/settings.ts").SettingsSection, Schema>>;
}

/** The texts of a language that the first page does not need. */
declare module "virtual:texts/*" {
  const texts: import("../messages/texts.ts").Texts;
  export default texts;
}

/** The hints of forms in one language, by their English text. */
declare module "virtual:hints/*" {
  const hints: Readonly<Record<string, string>>;
  export default hints;
}

/** The details of the service in one language, by their codes. */
declare module "virtual:details/*" {
  const details: Readonly<Record<string, string>>;
  export default details;
}
