import { overview } from "./overview.ts";
import { rigs } from "./rigs.ts";
import { shared } from "./shared.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = { ...shared, overview, rigs };
export type Messages = typeof messages;
