import { add } from "./add.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { shared } from "./shared.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = { ...shared, add, money, overview };
export type Messages = typeof messages;
