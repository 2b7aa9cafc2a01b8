/** A text, the forms of a text by number, or more of them under names: what a file of messages contains. */
export type Texts = string | { readonly [key: string]: Texts };

/** What is put into a text. */
export type Values = Readonly<Record<string, string | number>>;

/** `text` with its {names} replaced; a name without a value stays, so that it is noticed. */
export const filled = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (name, key: string) => String(values[key] ?? name));

/** A text for a number of things, by the plural rules of a language; `#` stands for the number. */
export interface Forms {
  readonly other: string;
  readonly [category: string]: string;
}

/** Whether these are the forms of one text by number, not several texts. */
export const isForms = (texts: Texts): texts is Forms => typeof texts === "object" && typeof texts.other === "string";

/** The form of a text for a number, which `shown` is as people read it. */
export const inForm = (count: number, shown: string, forms: Forms, rules: Intl.PluralRules): string =>
  (forms[rules.select(count)] ?? forms.other).replace("#", shown);

/** The same by the rules of a language. */
export const counted = (count: number, forms: Forms, language: string): string =>
  inForm(count, String(count), forms, new Intl.PluralRules(language));

/** A language's texts, with the English text wherever it has none. Forms by number are whole: languages differ in theirs. */
export function completed(texts: Texts | undefined, english: Texts): Texts {
  if (texts === undefined || typeof texts !== typeof english) return english;
  if (typeof texts === "string" || typeof english === "string" || isForms(english)) return texts;
  return Object.fromEntries(Object.entries(english).map(([key, inner]) => [key, completed(texts[key], inner)]));
}

/** The texts of two parts of a language, neither of which has a text of the other. */
export const joined = (one: Texts, other: Texts | undefined): Texts =>
  typeof one === "string" || typeof other === "string" || other === undefined
    ? one
    : {
        ...other,
        ...Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, joined(inner, other[key])])),
      };

/** The texts with a function in place of each one that has {names}; its type is `Messages`. */
export function callable(texts: Texts): unknown {
  if (typeof texts === "string") return /\{\w+\}/.test(texts) ? (values: Values) => filled(texts, values) : texts;
  return Object.fromEntries(Object.entries(texts).map(([key, inner]) => [key, callable(inner)]));
}
