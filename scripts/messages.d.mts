import type { Texts } from "../src/messages/texts.ts";

export function readMessages(language: string): Texts;
export function namesFile(english: Texts): string;
export function differences(english: Texts, texts: Texts): { readonly missing: string[]; readonly unknown: string[] };
export function hintsOfForms(): Promise<Readonly<Record<string, string>>>;

/** The English details of the service, by code. */
export function detailsOfService(): Promise<Readonly<Record<string, string>>>;
