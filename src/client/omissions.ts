import { RigbridgeError } from "../contract/problems.ts";

/** Receives each list element that cannot be read and is therefore left out. */
export interface Omitting {
  omit(why: RigbridgeError): void;
}

/** Leaves nothing out: the first unreadable element fails the whole reply. */
export const strict: Omitting = {
  omit: (why) => {
    throw why;
  },
};

/** Elements that are named individually; the others are only counted. */
const maxNamed = 5;

/** The elements left out of a reply. */
export class Omissions implements Omitting {
  readonly #reasons: RigbridgeError[] = [];

  omit(why: RigbridgeError): void {
    this.#reasons.push(why);
  }

  /** Throws the first reason if no element could be read: the list then has another content. */
  check(kept: number): void {
    const [first] = this.#reasons;
    if (first !== undefined && kept === 0) throw first;
  }

  /** For people. */
  get notes(): string[] {
    const more = this.#reasons.length - maxNamed;
    return [
      ...this.#reasons.slice(0, maxNamed).map(omitted),
      ...(more > 0 ? [`${more} more entries cannot be read and are left out`] : []),
    ];
  }
}

export const omitted = ({ message }: RigbridgeError): string => `An entry cannot be read and is left out: ${message}`;

/** Reads all elements; those that are garbled are left out. */
export function readable<E, T>(elements: readonly E[], read: (element: E) => T, omitting: Omitting): T[] {
  return elements.flatMap((element) => {
    try {
      return [read(element)];
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "service.garbled") throw error;
      omitting.omit(error);
      return [];
    }
  });
}
