/** Made by the build of the contract's schemas (scripts/web.mjs). */
declare module "virtual:schemas" {
  type Schema = import("./parts/schema-form/schema.ts").Schema;
  export const rule: Schema;
  export const schedule: Schema;
  export const template: Schema;
  /** The unit of each reading that is a number, with a remark after a comma. */
  export const readingUnits: Readonly<Record<string, string>>;
}
